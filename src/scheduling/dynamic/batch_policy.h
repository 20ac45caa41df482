// SPDX-License-Identifier: Apache-2.0
// BatchPolicy: decides when the requests at the head of a queue become a batch.
// Immutable; takes no lock, reads no clock, allocates nothing.
//
// The rules are those of docs/reference/batching.md section 3.
#ifndef NEREID_SCHEDULING_DYNAMIC_BATCH_POLICY_H_
#define NEREID_SCHEDULING_DYNAMIC_BATCH_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "config/compiled_model.h"
#include "scheduling/batch.h"

namespace nereid {

// What the policy needs to know about the queue, kept up to date request by request.
class QueueView {
 public:
  virtual ~QueueView() = default;
  virtual size_t size() const = 0;
  // What request `index` (0 = the next to be served) counts for in a batch: max(1, its batch size).
  virtual uint32_t units(size_t index) const = 0;
  virtual TimePoint queued_at(size_t index) const = 0;
  // Whether requests `a` and `b` may share a batch as far as their tensors go.
  virtual bool Compatible(size_t a, size_t b) const = 0;
};

struct BatchDecision {
  size_t take = 0;                   // requests to take from the head now; 0 = none yet
  std::optional<TimePoint> wake_at;  // when to ask again if nothing arrives; none: on arrival
  BatchReason why = BatchReason::kIdleInstance;  // of a batch that is taken now
};

// How far the queue has been examined, from its head, so that an arrival costs O(1) and not
// O(queue). Reset when requests leave the queue.
struct BatchCursor {
  size_t examined = 0;                  // requests accepted into the pending batch so far
  TimePoint oldest = TimePoint::max();  // arrival of the oldest of them
  uint64_t units = 0;                   // their units
  size_t marked = 0;  // requests up to the largest preferred size reached; 0: none
  BatchReason marked_why = BatchReason::kPreferredSize;
  bool closed = false;  // the next request cannot join: send now
  BatchReason closed_why = BatchReason::kFull;
};

class BatchPolicy {
 public:
  explicit BatchPolicy(const CompiledModel& model);

  // REQUIRES: the queue holds no expired or cancelled request; `cursor` describes its head.
  BatchDecision Decide(const QueueView& queue, TimePoint now, BatchCursor* cursor) const;

  // Looks at the requests that were queued since the last call, and adds to `cursor` those that may
  // join the batch.
  void Examine(const QueueView& queue, BatchCursor* cursor) const;

  // A batch of more than one request never has more units than this.
  uint64_t max_units() const { return max_units_; }
  // Whether a request may have to wait for others although an instance is idle.
  bool delays() const { return max_delay_ > Duration(0); }

 private:
  bool IsPreferred(uint64_t units) const;
  void Mark(BatchCursor* cursor, bool full) const;
  // The decision without the case of a model that does not batch.
  BatchDecision DecideForBatch(const QueueView& queue, TimePoint now, BatchCursor* cursor) const;

  const uint64_t max_units_;
  const std::vector<int32_t> preferred_;  // ascending
  const uint64_t max_preferred_;          // 0: none
  const Duration max_delay_;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_BATCH_POLICY_H_
