// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/batch_policy.h"

#include <algorithm>

namespace nereid {
namespace {

// The most units of a batch of several requests. 0: every request is a batch of its own, because
// the model has no dynamic batching or no batch dimension.
uint64_t MaxUnits(const CompiledModel& model) {
  if (!model.batching.enabled) return 0;
  return static_cast<uint64_t>(std::max(0, model.max_batch_size));
}

}  // namespace

BatchPolicy::BatchPolicy(const CompiledModel& model)
    : max_units_(MaxUnits(model)),
      preferred_(model.batching.preferred_batch_sizes),
      max_preferred_(preferred_.empty() ? 0 : static_cast<uint64_t>(preferred_.back())),
      max_delay_(model.batching.enabled ? model.batching.max_queue_delay : Duration{0}) {}

bool BatchPolicy::IsPreferred(uint64_t units) const {
  return std::find(preferred_.begin(), preferred_.end(), static_cast<int32_t>(units)) !=
         preferred_.end();
}

void BatchPolicy::Examine(const QueueView& queue, BatchCursor* cursor) const {
  while (!cursor->closed && cursor->examined < queue.size()) {
    const size_t candidate = cursor->examined;
    const uint64_t units = queue.units(candidate);
    if (candidate > 0) {
      // If the largest preferred size is exceeded and no preferred size was reached before, the
      // requests before this one are the batch.
      if (cursor->units + units > max_preferred_ && cursor->marked == 0) {
        Mark(cursor, cursor->units + units > max_units_);
      }
      if (cursor->units + units > max_units_) {
        cursor->closed = true;
        cursor->closed_why = BatchReason::kFull;
        return;
      }
      if (!queue.Compatible(0, candidate)) {
        cursor->closed = true;
        cursor->closed_why = BatchReason::kShapeChange;
        return;
      }
    }
    cursor->units += units;
    cursor->oldest = std::min(cursor->oldest, queue.queued_at(candidate));
    ++cursor->examined;
    if (IsPreferred(cursor->units)) Mark(cursor, cursor->units == max_units_);
  }
}

void BatchPolicy::Mark(BatchCursor* cursor, bool full) const {
  cursor->marked = cursor->examined;
  cursor->marked_why = full ? BatchReason::kFull : BatchReason::kPreferredSize;
}

BatchDecision BatchPolicy::Decide(const QueueView& queue, TimePoint now,
                                  BatchCursor* cursor) const {
  BatchDecision decision = DecideForBatch(queue, now, cursor);
  if (max_units_ == 0) decision.why = BatchReason::kNotBatched;
  return decision;
}

BatchDecision BatchPolicy::DecideForBatch(const QueueView& queue, TimePoint now,
                                          BatchCursor* cursor) const {
  BatchDecision decision;
  if (queue.size() == 0) return decision;
  Examine(queue, cursor);
  const bool delays = max_delay_ > Duration{0};
  const TimePoint deadline = Later(cursor->oldest, max_delay_);
  const bool exceeded = delays && now >= deadline;

  if (cursor->marked > 0 && !exceeded) {
    decision.take = cursor->marked;
    decision.why = cursor->marked_why;
  } else if (cursor->closed) {
    decision.take = cursor->examined;
    decision.why = cursor->closed_why;
  } else if (exceeded) {
    decision.take = cursor->examined;
    decision.why = cursor->units >= max_units_ ? BatchReason::kFull : BatchReason::kDelayOver;
  } else if (cursor->units >= max_preferred_) {
    decision.take = cursor->examined;
    decision.why = cursor->units >= max_units_ ? BatchReason::kFull : BatchReason::kPreferredSize;
  } else if (!delays) {
    decision.take = cursor->examined;
    decision.why = BatchReason::kIdleInstance;
  } else {
    decision.wake_at = deadline;
  }
  return decision;
}

}  // namespace nereid
