// SequenceStrategy: which requests of its sequences an instance executes next. No lock, no clock.
// Thread-compatible; owned by a scheduler, one for each instance.
#ifndef NEREID_SCHEDULING_SEQUENCE_SEQUENCE_STRATEGY_H_
#define NEREID_SCHEDULING_SEQUENCE_SEQUENCE_STRATEGY_H_

#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "infer/request_ptr.h"
#include "scheduling/dynamic/batch_policy.h"
#include "scheduling/sequence/live_sequence.h"

namespace nereid {

// One place of a batch. Without a sequence it is a gap, and there is no request.
struct SequencePick {
  LiveSequence* sequence = nullptr;
  RequestPtr request;
};

class SequenceStrategy {
 public:
  virtual ~SequenceStrategy() = default;

  // `sequence`, which has a slot of this instance and no request in flight, has a request in its
  // queue. Marks the sequence offered. If this throws, nothing has changed. REQUIRES: the sequence
  // is not offered.
  virtual void Offer(LiveSequence* sequence, TimePoint now) = 0;
  // Undoes Offer: a request that was taken over is back in the queue. REQUIRES: `sequence` is
  // offered.
  virtual void Withdraw(LiveSequence* sequence) = 0;
  // The batch that is due at `now`; `take` is the number of its places. If none is due, when to ask
  // again if nothing is offered meanwhile (none: only after an offer).
  virtual BatchDecision Due(TimePoint now) = 0;
  // Takes the batch of `places` places that Due has announced. Its sequences are not offered any
  // more. If this throws, nothing has changed.
  virtual std::vector<SequencePick> Take(size_t places) = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_SEQUENCE_STRATEGY_H_
