// LiveSequence: a sequence from its first request to the release of its last one.
// Thread-compatible; owned by SequenceScheduler and guarded by its mutex, but for the marked
// members.
#ifndef NEREID_SCHEDULING_SEQUENCE_LIVE_SEQUENCE_H_
#define NEREID_SCHEDULING_SEQUENCE_LIVE_SEQUENCE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "infer/infer_request.h"
#include "infer/scheduler_slot.h"
#include "infer/sequence_states.h"
#include "model/correlation_id.h"
#include "scheduling/sequence/filler.h"
#include "scheduling/sequence/slot_table.h"

namespace nereid {

struct QueuedRequest {
  RequestPtr request;
  TimePoint queued_at;
};

// The object in the slot of each of the sequence's requests, from Enqueue to their release.
struct LiveSequence : SlotOf<LiveSequence> {
  LiveSequence(uint64_t number_in, ModelPass pass_in)
      : number(number_in), pass(std::move(pass_in)) {}
  LiveSequence(const LiveSequence&) = delete;
  LiveSequence& operator=(const LiveSequence&) = delete;

  // ---- Constant.
  const uint64_t number;  // never used twice
  const ModelPass pass;   // keeps the model loaded while the sequence lives
  CorrelationId id;
  std::string id_tensor;  // of SequenceControls
  FillerShape shape;      // of its first request
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

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_LIVE_SEQUENCE_H_
