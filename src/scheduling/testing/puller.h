// SPDX-License-Identifier: Apache-2.0
// Puller: the instances of a test. Their threads pull batches from a BatchSource, and answer each
// at once or, with `hold`, when the test says so. Thread-safe.
#ifndef NEREID_SCHEDULING_TESTING_PULLER_H_
#define NEREID_SCHEDULING_TESTING_PULLER_H_

#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "infer/infer_request.h"
#include "scheduling/batch.h"
#include "scheduling/scheduler.h"

namespace nereid {

// Answers every request of `batch` with one empty final response and releases it, as an instance
// does whose backend succeeds and reports no times. `started`: when it began; none: now.
inline void FinishBatch(Batch batch, std::optional<TimePoint> started = std::nullopt) {
  if (batch.empty()) return;
  const std::shared_ptr<ServingModel> model = batch.front()->model();  // has the recorder
  const uint16_t shard = model->config().instances.empty() ? 0 : 1;
  BatchRecord record = BeginRecord(batch, shard, ToNanos(started.value_or(model->clock()->Now())),
                                   &model->recorder());
  for (RequestPtr& request : batch) {
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    if (!request->is_synthetic()) request->model()->statistics().AddPending(-1);
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
    request.reset();
  }
  if (record.number == 0) return;
  record.exec_end = ToNanos(model->clock()->Now());
  model->recorder().Record(record);
}

class Puller {
 public:
  struct Pulled {
    std::vector<InferRequest*> requests;
    TimePoint at;
  };

  // Starts `threads` instances. With `hold`, each waits for Finish() before it pulls again.
  Puller(BatchSource* source, Clock* clock, int threads = 1, bool hold = false)
      : source_(source), clock_(clock), hold_(hold) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }
  // REQUIRES: the source was shut down.
  ~Puller() {
    FinishAll();
    for (std::thread& thread : threads_) thread.join();
  }

  // The next batch that any of the threads has pulled. Blocks until there is one.
  Pulled Next() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (pulled_.empty()) changed_.Wait(&mu_);
    Pulled next = std::move(pulled_.front());
    pulled_.pop_front();
    return next;
  }
  // The number of pulled batches that Next() has not returned.
  size_t unseen() const ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return pulled_.size();
  }
  // Lets one thread that holds a batch answer it.
  void Finish() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++may_finish_;
    changed_.NotifyAll();
  }
  // Waits until every thread has got an empty batch.
  void WaitStopped() ABSL_LOCKS_EXCLUDED(mu_) {
    FinishAll();
    MutexLock lock(&mu_);
    while (stopped_ < threads_.size()) changed_.Wait(&mu_);
  }

 private:
  void FinishAll() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    hold_ = false;
    changed_.NotifyAll();
  }

  void Run() ABSL_LOCKS_EXCLUDED(mu_) {
    for (Batch batch = PullNext(); !batch.empty(); batch = PullNext()) {
      Pulled pulled;
      pulled.at = clock_->Now();
      for (const RequestPtr& request : batch) pulled.requests.push_back(request.get());
      {
        MutexLock lock(&mu_);
        pulled_.push_back(std::move(pulled));
        changed_.NotifyAll();
        while (hold_ && may_finish_ == 0) changed_.Wait(&mu_);
        if (hold_) --may_finish_;
      }
      FinishBatch(std::move(batch));
    }
    MutexLock lock(&mu_);
    ++stopped_;
    changed_.NotifyAll();
  }

  Batch PullNext() { return source_->Pull(nullptr, std::nullopt); }

  BatchSource* const source_;
  Clock* const clock_;
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Pulled> pulled_ ABSL_GUARDED_BY(mu_);
  bool hold_ ABSL_GUARDED_BY(mu_);
  int may_finish_ ABSL_GUARDED_BY(mu_) = 0;
  size_t stopped_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::thread> threads_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_TESTING_PULLER_H_
