// DynamicScheduler: the queue of one model and the batches formed from it; also the default
// scheduler, whose batches are single requests. Thread-safe. Owned by its model, which outlives it.
//
// Idle instances pull. Of those that wait while a batch forms, one is the leader and waits with
// the deadline that the policy gave; the others sleep until they are woken.
#ifndef NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_
#define NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "infer/serving_model.h"
#include "scheduling/dynamic/batch_policy.h"
#include "scheduling/dynamic/batch_strategy.h"
#include "scheduling/scheduler.h"

namespace nereid {

class DynamicScheduler final : public Scheduler, public BatchSource {
 public:
  // `strategy` may be null. `config` outlives this.
  DynamicScheduler(const CompiledModel* config, std::unique_ptr<BatchStrategy> strategy,
                   Clock* clock);
  ~DynamicScheduler() override;

  absl::Status Enqueue(RequestPtr* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void CloseAdmission() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void Shutdown() override ABSL_LOCKS_EXCLUDED(mu_);

  Batch Pull() override ABSL_LOCKS_EXCLUDED(mu_);

  // Ends the model's own batching before the model itself goes. REQUIRES: shut down, and no thread
  // is inside Pull.
  void DropStrategy();

 private:
  struct Entry {
    RequestPtr request;
    TimePoint queued_at;
    bool refused = false;  // for the batch that forms now: by the strategy, or does not fit
  };
  class View;

  // A batch if one is due now, otherwise none and, in `wake_at`, when to ask again.
  std::optional<Batch> TryTake(std::optional<TimePoint>* wake_at)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Batch TakeHead(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the batch from the head to `index` stays within the policy's limits.
  bool Fits(size_t index) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks the strategy about entries it has not seen, letting go of the mutex meanwhile. Not about
  // those that cannot join the batch anyhow.
  void AskStrategy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Tells the strategy that its batch is handed over, letting go of the mutex meanwhile.
  void EndStrategy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Requests seen as cancelled, taken out of the queue.
  Batch TakeCancelled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Wait(std::optional<TimePoint> wake_at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ResetCursor() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const CompiledModel* const config_;
  Clock* const clock_;
  const BatchPolicy policy_;
  std::unique_ptr<BatchStrategy> strategy_;  // used by whoever set asking_

  Mutex mu_;
  CondVar wake_;
  std::deque<Entry> queue_ ABSL_GUARDED_BY(mu_);
  BatchCursor cursor_ ABSL_GUARDED_BY(mu_);
  size_t asked_ ABSL_GUARDED_BY(mu_) = 0;  // entries that the strategy has judged
  bool asking_ ABSL_GUARDED_BY(mu_) = false;
  bool begun_ ABSL_GUARDED_BY(mu_) = false;  // strategy: Begin without End
  bool leader_waits_ ABSL_GUARDED_BY(mu_) = false;
  int idle_ ABSL_GUARDED_BY(mu_) = 0;  // threads inside Wait
  bool admission_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;
  bool look_for_cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_DYNAMIC_SCHEDULER_H_
