// Reads the configuration of one model directory and makes it complete. Stateless; thread-safe as
// far as the FileSystem is. Blocks on file I/O.
#ifndef NEREID_CONFIG_LOAD_CONFIG_H_
#define NEREID_CONFIG_LOAD_CONFIG_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>

#include "config/parsed_config.h"
#include "filesystem/file_system.h"

namespace nereid {

struct ConfigSource {
  std::string model_dir;      // full path of the model's directory
  std::string expected_name;  // what the configuration must call the model: the directory's name
  bool rename = false;        // the model is called expected_name whatever the configuration says
  bool auto_complete = true;  // a missing file stands for an empty configuration
  std::string model_config_name;  // prefer configs/<this>.pbtxt where it exists; empty: do not
  std::optional<std::string> override_json;  // use this instead of any file
};

// Reads, completes the backend fields from the files found, writes the defaults, checks.
// INVALID_ARGUMENT names every problem found (texts as `<path>:<line>:<column>: ...` for syntax),
// also fields that this server does not implement. Error of the file system where there is no
// file and auto_complete is off.
absl::StatusOr<ParsedConfig> LoadModelConfig(const FileSystem& fs, const ConfigSource& source);

// The configuration as it is written, without anything completed or checked but its syntax. Not
// provided where there is no file and auto_complete is on. Errors as above.
absl::StatusOr<ParsedConfig> ReadModelConfig(const FileSystem& fs, const ConfigSource& source);

}  // namespace nereid

#endif  // NEREID_CONFIG_LOAD_CONFIG_H_
