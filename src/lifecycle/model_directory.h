// ModelDirectory: which versions of which models there are, as one immutable picture. A new picture
// replaces the old one at every change (base/read_mostly.h), so that a request's look-up takes no
// lock.
#ifndef NEREID_LIFECYCLE_MODEL_DIRECTORY_H_
#define NEREID_LIFECYCLE_MODEL_DIRECTORY_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lifecycle/loaded_model.h"

namespace nereid {

enum class ModelState { kUnknown, kReady, kUnavailable, kLoading, kUnloading };
const char* ModelStateName(ModelState state);

// The reason of a version that was unloaded on purpose.
inline constexpr char kUnloadedReason[] = "unloaded";

struct VersionEntry {
  ModelState state = ModelState::kUnknown;
  std::string reason;
  std::shared_ptr<LoadedModel> model;  // null unless the version serves or drains
};

struct ModelEntry {
  std::map<int64_t, VersionEntry> versions;
  std::string reason;  // why there are no versions, when there are none
  // Versions that were replaced, and in which sequences may live on.
  std::vector<std::weak_ptr<LoadedModel>> draining;
};

struct ModelDirectory {
  std::map<std::string, ModelEntry, std::less<>> models;

  // Version `version`, or the highest ready one for a negative number. The errors are those of
  // spec/scheduling.md 8.6.
  absl::StatusOr<std::shared_ptr<LoadedModel>> Find(absl::string_view name, int64_t version) const;
  // Version `version`, or any for a negative number, in which sequence `id` lives, although another
  // has taken its place; null if there is none.
  std::shared_ptr<LoadedModel> FindSequence(absl::string_view name, int64_t version,
                                            const CorrelationId& id) const;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_DIRECTORY_H_
