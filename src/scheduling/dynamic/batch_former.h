// SPDX-License-Identifier: Apache-2.0
// BatchFormer: the queue of one model and the batch that forms at its head: RequestQueue and
// BatchPolicy together. Thread-compatible; owned by a scheduler. Takes no lock and reads no clock.
#ifndef NEREID_SCHEDULING_DYNAMIC_BATCH_FORMER_H_
#define NEREID_SCHEDULING_DYNAMIC_BATCH_FORMER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "config/compiled_model.h"
#include "infer/request_ptr.h"
#include "scheduling/adaptive/adaptive_policy.h"
#include "scheduling/batch.h"
#include "scheduling/dynamic/batch_policy.h"
#include "scheduling/dynamic/request_queue.h"

namespace nereid {

class RequestContent;

// Which requests may share a batch (docs/reference/batching.md section 4): true if `a` and `b`,
// both prepared for `model`, carry the same set of inputs where inputs are optional, and equal
// shapes (batch dimension aside) of every input that may vary.
bool MayShareBatch(const CompiledModel& model, const RequestContent& a, const RequestContent& b);

class BatchFormer {
 public:
  // `config` outlives this. `judged`: requests are judged one by one (see below) before they may
  // join a batch.
  // `target`: when and how large batches are is decided by an AdaptivePolicy; zero: by the
  // configuration. REQUIRES: judged or a target, not both.
  explicit BatchFormer(const CompiledModel* config, bool judged = false,
                       Duration target = Duration(0));

  const BatchPolicy& policy() const { return policy_; }
  // Null unless there is a target.
  const AdaptivePolicy* adaptive() const { return adaptive_.get(); }
  size_t size() const { return queue_.size(); }
  bool empty() const { return queue_.empty(); }

  // Takes `*request` if and only if it returns true; false: its level of the queue is full.
  bool Push(RequestPtr* request, TimePoint now);
  // Takes a request out of the middle. Null if it is not in this queue.
  RequestPtr Remove(InferRequest* request);
  // Whether `request` is in this queue. REQUIRES: it is in no other.
  bool Holds(const InferRequest& request) const;
  // Marks `request`, so that TakeCancelled removes it. Call TakeCancelled before any other function
  // that takes requests out. If this throws, nothing has changed. REQUIRES: it is in this queue.
  void MarkCancelled(InferRequest* request) { cancelled_.push_back(request); }
  // Takes out all requests that were marked and are still queued. Returns whether there was any. If
  // this throws, nothing has changed.
  bool TakeCancelled(std::vector<RequestPtr>* cancelled);
  // Forgets all marks: requests that were not taken out stay queued.
  void ForgetCancelled() { cancelled_.clear(); }
  // See RequestQueue.
  bool Expire(TimePoint now, std::vector<RequestPtr>* rejected);
  std::optional<TimePoint> earliest_deadline() const { return queue_.earliest_deadline(); }

  // Decides about the head of the queue at `now`. Requests that have timed out count unless Expire
  // was called.
  BatchDecision Decide(TimePoint now);
  // A batch of `units` has kept an instance busy for `took`.
  void OnExecuted(uint64_t units, Duration took);
  // Takes the first `count` <= size() requests out.
  Batch Take(size_t count);
  // The first request. Takes no memory. REQUIRES: there is one.
  RequestPtr PopFront();

  // ---- Where requests are judged.
  // The next request to be judged, in the order of the queue. Null if all are judged, or if the
  // batch is closed.
  InferRequest* NextToJudge();
  // Judges that request: whether it joins. The first request of a batch joins in any case.
  void Judge(bool joins);
  // The number of judged requests of the batch that forms.
  size_t judged() const { return judged_; }
  // Changes when another batch begins to form at the head. Then earlier judgements no longer count.
  uint64_t forming() const { return forming_; }

 private:
  class View;

  void StartOver();

  const CompiledModel* const config_;
  const BatchPolicy policy_;
  const std::unique_ptr<AdaptivePolicy> adaptive_;
  const bool judges_;
  RequestQueue queue_;
  std::vector<InferRequest*> cancelled_;  // marked; all of them are queued
  BatchCursor cursor_;
  size_t judged_ = 0;
  uint64_t judged_units_ = 0;
  const QueueEntry* refused_ = nullptr;  // the last judged request; null if it joins
  uint64_t forming_ = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_BATCH_FORMER_H_
