// SPDX-License-Identifier: Apache-2.0
// Which version directories of a model are served. Pure functions and plain values; only
// ListServedVersions touches the file system and the log.
#ifndef NEREID_CONFIG_VERSION_POLICY_H_
#define NEREID_CONFIG_VERSION_POLICY_H_

#include <absl/status/statusor.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <vector>

#include "filesystem/file_system.h"

namespace nereid {

struct VersionPolicy {
  enum class Kind { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  uint32_t latest = 1;            // kLatest: number of largest versions to serve
  std::vector<int64_t> versions;  // kSpecific
};

struct VersionSelection {
  std::vector<int64_t> versions;      // ascending, distinct; empty: nothing to serve
  std::vector<std::string> warnings;  // one text per ignored directory
  std::vector<std::string> errors;    // versions listed in kSpecific that do not exist
};

// Chooses among `directories`, the names of the sub-directories of the model directory. `warmup`,
// `initial_state` and `configs` are not versions and are skipped silently.
VersionSelection SelectVersions(const std::string& model, absl::Span<const std::string> directories,
                                const VersionPolicy& policy);

// Lists `model_dir`, selects the versions, and logs warnings and errors. Returns at least one
// version, ascending; INVALID_ARGUMENT if there is none, or the error of the file system.
absl::StatusOr<std::vector<int64_t>> ListServedVersions(const FileSystem& fs,
                                                        const std::string& model_dir,
                                                        const std::string& model,
                                                        const VersionPolicy& policy);

}  // namespace nereid

#endif  // NEREID_CONFIG_VERSION_POLICY_H_
