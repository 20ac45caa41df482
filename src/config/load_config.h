// SPDX-License-Identifier: Apache-2.0
// Reads and completes the configuration of one model directory. Stateless; thread-safe as far as
// the FileSystem is. Blocks on file I/O.
#ifndef NEREID_CONFIG_LOAD_CONFIG_H_
#define NEREID_CONFIG_LOAD_CONFIG_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>

#include "config/parsed_config.h"
#include "filesystem/file_system.h"

namespace nereid {

struct ConfigSource {
  std::string model_dir;                     // full path of the model's directory
  std::string expected_name;                 // name required in the configuration: the directory's
  bool rename = false;                       // use expected_name whatever the configuration says
  bool auto_complete = true;                 // a missing file counts as an empty configuration
  std::string model_config_name;             // prefer configs/<this>.pbtxt if it exists; empty: off
  std::optional<std::string> override_json;  // use this instead of any file
};

// Reads the configuration, completes the backend fields from the files found, writes the defaults
// and checks the result. INVALID_ARGUMENT names every problem found (syntax errors as
// `<path>:<line>:<column>: ...`), including fields that this server does not implement. Returns the
// error of the file system if there is no file and auto_complete is off.
absl::StatusOr<ParsedConfig> LoadModelConfig(const FileSystem& fs, const ConfigSource& source);

// The configuration as written: nothing is completed, and only the syntax is checked. Not
// `provided` if there is no file and auto_complete is on. Errors as above.
absl::StatusOr<ParsedConfig> ReadModelConfig(const FileSystem& fs, const ConfigSource& source);

// A configuration that is complete, as a server shows it (ParsedConfig::Json). Reads no file.
// INVALID_ARGUMENT: `json` is no configuration; ParsedConfig::Compile checks the rest.
absl::StatusOr<ParsedConfig> CompleteModelConfig(const std::string& json);

}  // namespace nereid

#endif  // NEREID_CONFIG_LOAD_CONFIG_H_
