// SPDX-License-Identifier: Apache-2.0
// PlanRun: a plan that is being carried out. Starts each action as soon as the actions that it
// waits for have ended. Thread-safe. Shared by the plan's waiters and the actions under way.
#ifndef NEREID_LIFECYCLE_PLAN_PLAN_RUN_H_
#define NEREID_LIFECYCLE_PLAN_PLAN_RUN_H_

#include <absl/functional/any_invocable.h>
#include <absl/status/status.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "lifecycle/plan/load_planner.h"

namespace nereid {

class PlanRun : public std::enable_shared_from_this<PlanRun> {
 public:
  // Reports the end of an action, once, from any thread. If something throws and the Completion is
  // destroyed without a report, the action ends with UNAVAILABLE, so that nobody waits in vain.
  class Completion {
   public:
    Completion() = default;  // belongs to no action
    Completion(Completion&& other) noexcept = default;
    Completion& operator=(Completion&& other) noexcept;
    ~Completion();
    void Report(absl::Status status) noexcept;

   private:
    friend class PlanRun;
    Completion(std::shared_ptr<PlanRun> run, size_t index) : run_(std::move(run)), index_(index) {}

    std::shared_ptr<PlanRun> run_;  // null once reported
    size_t index_ = 0;
  };
  // Starts action `index` without waiting for its end. May throw.
  using Start = absl::AnyInvocable<void(size_t index, Completion completion)>;
  using Ended = absl::AnyInvocable<void(const PlanRun& run)>;

  // Begins the plan. `start` is called by this thread and by threads on which actions end. Throws
  // only before any action has begun. `ended`, unless null, is called once when all actions have
  // ended, by the thread on which the last one ends. If it throws it is destroyed.
  static std::shared_ptr<PlanRun> Begin(std::vector<PlannedAction> actions, Start start,
                                        Ended ended = nullptr);

  // Blocks until all actions have ended.
  void Wait() ABSL_LOCKS_EXCLUDED(mu_);
  const std::vector<PlannedAction>& actions() const { return actions_; }
  // How action `index` ended. REQUIRES: all actions have ended.
  absl::Status result(size_t index) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  PlanRun(std::vector<PlannedAction> actions, Start start, Ended ended);
  // Starts the actions that are ready. An action that ends while this thread starts it leaves those
  // that it makes ready to the call under way, so that the stack does not grow with the plan.
  void StartReady() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone(size_t index, absl::Status status) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // All actions have ended.
  void ReportEnd() noexcept ABSL_LOCKS_EXCLUDED(mu_);

  const std::vector<PlannedAction> actions_;
  std::vector<std::vector<size_t>> awaited_by_;  // per action; constant once the plan has begun
  mutable Mutex mu_;
  CondVar all_ended_;
  std::shared_ptr<Start> start_ ABSL_GUARDED_BY(mu_);  // null when all actions have ended
  Ended ended_ ABSL_GUARDED_BY(mu_);                   // null once called
  // Actions that can start now. Has room for all actions from the start, so it never allocates.
  std::vector<size_t> ready_ ABSL_GUARDED_BY(mu_);
  std::vector<size_t> waits_for_ ABSL_GUARDED_BY(mu_);  // per action: how many it still waits for
  std::vector<absl::Status> results_ ABSL_GUARDED_BY(mu_);
  size_t left_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_PLAN_PLAN_RUN_H_
