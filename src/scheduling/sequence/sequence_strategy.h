// SPDX-License-Identifier: Apache-2.0
// SequenceStrategy: which requests of its sequences an instance executes next. No lock, no clock.
// Thread-compatible; owned by a scheduler, one for each instance.
#ifndef NEREID_SCHEDULING_SEQUENCE_SEQUENCE_STRATEGY_H_
#define NEREID_SCHEDULING_SEQUENCE_SEQUENCE_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/compiled_model.h"
#include "infer/infer_request.h"
#include "infer/request_ptr.h"
#include "infer/sequence_states.h"
#include "model/correlation_id.h"
#include "scheduling/dynamic/batch_policy.h"
#include "scheduling/sequence/sequence_requests.h"
#include "scheduling/sequence/sequence_tables.h"

namespace nereid {

struct QueuedRequest {
  RequestPtr request;
  TimePoint queued_at;
};

// A sequence from its first request to the release of its last one. Each of its requests points to
// it from Enqueue to its release (InferRequest::FindSlot). Owned by SequenceScheduler and guarded
// by its mutex, but for the marked members.
struct LiveSequence {
  LiveSequence(uint64_t number_in, ModelPass pass_in)
      : number(number_in), pass(std::move(pass_in)) {}
  LiveSequence(const LiveSequence&) = delete;
  LiveSequence& operator=(const LiveSequence&) = delete;

  // ---- Constant.
  const uint64_t number;  // never used twice
  const ModelPass pass;   // keeps the model loaded while the sequence lives
  CorrelationId id;
  std::string id_tensor;  // of SequenceControls
  InputShapes shape;      // of its first request
  bool generated_id = false;

  // Not guarded: used only by the thread that prepares or executes the request in flight. Null if
  // the model has no state.
  std::unique_ptr<SequenceStates> states;

  std::optional<SlotLease> lease;  // none: in the backlog
  uint64_t left_backlog_ns = 0;    // when it got the lease, of the steady clock; 0: had it at once
  std::list<QueuedRequest> queue;  // oldest first
  // The empty list element of the request that is in flight, or that OldestStrategy has taken over.
  // It lets the request come back to `queue` without taking memory.
  std::list<QueuedRequest> taken;
  // The strategy of the instance was told of a request to take. OldestStrategy has taken it over.
  bool offered = false;
  InferRequest* taken_over = nullptr;  // by OldestStrategy, while offered
  bool in_flight = false;              // an instance, or the backend, has a request
  bool started = false;                // the model has seen the sequence
  bool ending = false;  // no client adds to `queue`; the sequence ends when it is empty
  // The flags of the first unreleased request as its maker has set them, if they were changed
  // since.
  std::optional<uint32_t> maker_flags;
};

// One place of a batch. Without a sequence it is a gap, and there is no request.
struct SequencePick {
  LiveSequence* sequence = nullptr;
  RequestPtr request;
};

class SequenceStrategy {
 public:
  // As the configuration says. `config` outlives the strategy.
  //
  // Direct: every sequence keeps its place in the instance's batches, because the model keeps state
  // by place. The batch reaches from slot 0 to the last one that has a request. It waits for the
  // share of slots that the configuration asks for, but no request longer than the delay. A place
  // whose slot has no request, or one that cannot be in a batch with the first, is a gap. What is
  // left out comes first the next time, so that requests of different shapes take turns.
  //
  // Oldest: batches are formed as those of dynamic batching, from the first request of each of the
  // sequences, so that a batch never has two of one sequence. With `preserve_ordering` the
  // responses leave in the order in which requests were offered first.
  static std::unique_ptr<SequenceStrategy> Make(const CompiledModel* config);
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
