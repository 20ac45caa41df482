// SPDX-License-Identifier: Apache-2.0
// Changes the text of a config.pbtxt in a few places, and keeps everything else as somebody wrote
// it, with comments and order. Stateless; thread-safe.
#ifndef NEREID_CONFIG_EDIT_TEXT_H_
#define NEREID_CONFIG_EDIT_TEXT_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"

namespace nereid {

// What is to change; what has no value stays as it is.
struct ConfigChanges {
  std::optional<int32_t> instances;  // of the only instance group
  std::optional<int32_t> max_batch_size;
  // Of dynamic_batching, which is added if it is missing.
  std::optional<std::vector<int32_t>> preferred_batch_sizes;  // empty: none
  std::optional<uint64_t> max_queue_delay_us;
  std::map<std::string, std::string> parameters;  // these get the values; others stay
  std::optional<std::string> backend;             // replaces the platform, too
  bool no_batching = false;                       // dynamic_batching is removed
};

// `text`: the content of the file `path`, which may be empty. INVALID_ARGUMENT if it is no
// configuration, FAILED_PRECONDITION if it has several instance groups and their count is to
// change.
NEREID_API absl::StatusOr<std::string> EditConfigText(const std::string& path,
                                                      absl::string_view text,
                                                      const ConfigChanges& changes);

}  // namespace nereid

#endif  // NEREID_CONFIG_EDIT_TEXT_H_
