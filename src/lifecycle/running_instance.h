// Part of LoadedModel: one of its instances, and an update of them. Thread-compatible but for
// `in_use`.
#ifndef NEREID_LIFECYCLE_RUNNING_INSTANCE_H_
#define NEREID_LIFECYCLE_RUNNING_INSTANCE_H_

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/instance_handle.h"
#include "base/gate.h"
#include "execution/instance_runner.h"
#include "execution/rate_limited_source.h"
#include "lifecycle/loaded_model.h"

namespace nereid {

struct LoadedModel::RunningInstance {
  ~RunningInstance() { Close(); }

  void Serve() {
    if (!spec.passive) runner->Serve();
  }
  // Does not wait for resources any more.
  void Close() {
    if (limited != nullptr) limited->Close();
  }

  InstanceSpec spec;
  int place = 0;                               // its number among the model's instances
  std::unique_ptr<RateLimitedSource> limited;  // null without rate limiter
  InstanceHandle* handle = nullptr;            // owned by the runner
  Gate in_use;                                 // of the handle by others; closed before it goes
  std::unique_ptr<InstanceRunner> runner;      // joins before the source goes
};

class LoadedModel::InstanceUpdate {
 public:
  Instances added;    // not serving yet
  Instances removed;  // still serving
  // Made beforehand, so that Apply cannot fail.
  Instances all;       // of the model, once it is applied
  Reaper::Job retire;  // ends those removed, and then the pass below
  // Of the model's lifetime, from Apply on: the model stays as long as they do.
  std::shared_ptr<Gate::Pass> inside = std::make_shared<Gate::Pass>();
  std::string config_json;
};

// INVALID_ARGUMENT if none of the instances takes requests.
inline absl::Status CheckNotAllPassive(const std::string& model,
                                       const std::vector<InstanceSpec>& instances) {
  if (!std::all_of(instances.begin(), instances.end(),
                   [](const InstanceSpec& instance) { return instance.passive; })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("model '", model, "' has no instance that takes requests: all are passive"));
}

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_RUNNING_INSTANCE_H_
