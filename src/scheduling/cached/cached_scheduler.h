// SPDX-License-Identifier: Apache-2.0
// CachedScheduler: a layer in front of another scheduler. It answers repeated requests from a
// response cache, and stores the responses to new ones. Thread-safe. Owned by its model.
//
// A cache that answers at once is asked by the thread that brings the request, and gets responses
// from the thread that sends them. Any other cache is used on the threads of a ThreadPool; if these
// do not keep up, requests bypass the cache. A failure in a cache is logged, and the request is
// served as if there were no cache.
#ifndef NEREID_SCHEDULING_CACHED_CACHED_SCHEDULER_H_
#define NEREID_SCHEDULING_CACHED_CACHED_SCHEDULER_H_

#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/budget.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/threads/thread_pool.h"
#include "cache/response_cache.h"
#include "infer/infer_request.h"
#include "scheduling/cached/cache_key.h"
#include "scheduling/scheduler.h"

namespace nereid {

class CachedScheduler final : public SchedulerLayer {
 public:
  // All but `inner` and `fingerprint` (cache_key.h) outlive this. `executor` may be null for a
  // cache that answers at once. REQUIRES: the model is not decoupled: its requests have one
  // response.
  CachedScheduler(std::unique_ptr<Scheduler> inner, ResponseCache* cache, ThreadPool* executor,
                  const CompiledModel& model, absl::string_view fingerprint, Clock* clock);

  absl::Status Enqueue(RequestPtr* request) override;
  void CloseAdmission() override;
  void Shutdown() override;

 private:
  class Tap;
  // Tells the log the request that a failure is about.
  using About = absl::FunctionRef<LogAbout()>;
  enum class Found { kHit, kMiss, kNothing };  // kNothing: the cache failed

  // Enqueue while admission is closed: bypasses the cache, if the request may pass at all.
  absl::Status EnqueueClosed(RequestPtr* request);
  // Asks the cache. After kHit the request is answered and released, after kMiss its response will
  // be kept.
  Found LookUp(RequestPtr* request);
  void Answer(RequestPtr request, std::unique_ptr<InferResponse> response, TimePoint asked);
  // The rest of Enqueue on a thread of the executor; the request was taken already.
  void LookUpAndEnqueue(RequestPtr request);
  void Keep(const InferResponse& response, const std::string& key, Duration looked_up,
            const std::shared_ptr<ServingModel>& model);
  void KeepLater(const InferResponse& response, const std::string& key, Duration looked_up,
                 const std::shared_ptr<ServingModel>& model);
  // After an insertion that began at `start`: counts and logs.
  void NoteInserted(const absl::Status& inserted, TimePoint start, Duration looked_up,
                    ServingModel* model, About about);
  // Logs at most once a second.
  void LogFailure(About about, absl::string_view what, const absl::Status& error)
      ABSL_LOCKS_EXCLUDED(log_mu_);

  ResponseCache* const cache_;
  ThreadPool* const executor_;
  const std::string model_name_;
  const CacheKeys keys_;
  Clock* const clock_;
  std::atomic<bool> closed_{false};
  Gate looking_up_;         // look-ups on the executor; the inner scheduler stays open for them
  Budget waiting_inserts_;  // bytes of responses that wait for the executor
  Mutex log_mu_;
  TimePoint log_again_at_ ABSL_GUARDED_BY(log_mu_){};
  uint64_t unlogged_ ABSL_GUARDED_BY(log_mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_CACHED_CACHED_SCHEDULER_H_
