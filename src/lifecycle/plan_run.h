// PlanRun: a plan that is being carried out: starts each action as soon as those have ended that it
// waits for. Thread-safe. Shared by whoever waits for it and the actions under way.
#ifndef NEREID_LIFECYCLE_PLAN_RUN_H_
#define NEREID_LIFECYCLE_PLAN_RUN_H_

#include <absl/status/status.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "lifecycle/load_planner.h"

namespace nereid {

class PlanRun : public std::enable_shared_from_this<PlanRun> {
 public:
  // To be called once when an action has ended, from any thread.
  using Done = std::function<void(absl::Status)>;
  // Starts action `index`, and does not wait for its end.
  using Start = std::function<void(size_t index, Done done)>;

  // Begins. `start` is called by this thread and by those on which actions end.
  static std::shared_ptr<PlanRun> Begin(std::vector<PlannedAction> actions, Start start);

  // Blocks until all have ended.
  void Wait() ABSL_LOCKS_EXCLUDED(mu_);
  const std::vector<PlannedAction>& actions() const { return actions_; }
  // How action `index` ended. REQUIRES: Wait has returned.
  absl::Status result(size_t index) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  PlanRun(std::vector<PlannedAction> actions, Start start);
  void StartAll(const std::vector<size_t>& ready);
  void OnDone(size_t index, absl::Status status) ABSL_LOCKS_EXCLUDED(mu_);

  const std::vector<PlannedAction> actions_;
  mutable Mutex mu_;
  CondVar ended_;
  Start start_ ABSL_GUARDED_BY(mu_);                    // null when all have ended
  std::vector<size_t> waits_for_ ABSL_GUARDED_BY(mu_);  // how many others, for each
  std::vector<absl::Status> results_ ABSL_GUARDED_BY(mu_);
  size_t left_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_PLAN_RUN_H_
