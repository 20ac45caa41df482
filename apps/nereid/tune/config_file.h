// The config.pbtxt that `nereid tune` reads and writes. Functions that block on file I/O.
#ifndef NEREID_APPS_NEREID_TUNE_CONFIG_FILE_H_
#define NEREID_APPS_NEREID_TUNE_CONFIG_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

namespace nereid {

// The text of the file in a model's folder; empty if there is none. NOT_FOUND if there is no such
// folder, PERMISSION_DENIED if it cannot be read, or `to_write` is set and it cannot be replaced.
absl::StatusOr<std::string> ReadConfigFile(const std::string& folder, bool to_write);

// Replaces the file in one step. What was there before is kept as config.pbtxt.before-tune, in
// place of an earlier one; after the first file of a model there is none. UNAVAILABLE.
absl::Status ReplaceConfigFile(const std::string& folder, const std::string& text);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TUNE_CONFIG_FILE_H_
