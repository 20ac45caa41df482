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

// The slot of each of its requests, from when the scheduler has it to its release.
struct LiveSequence : SlotOf<LiveSequence> {
  LiveSequence(uint64_t number_in, ModelPass pass_in)
      : number(number_in), pass(std::move(pass_in)) {}
  LiveSequence(const LiveSequence&) = delete;
  LiveSequence& operator=(const LiveSequence&) = delete;

  // ---- Constant.
  const uint64_t number;  // never used twice
  const ModelPass pass;   // as long as it lives its model stays
  CorrelationId id;
  std::string id_tensor;  // of SequenceControls
  FillerShape shape;      // of its first request
  bool generated_id = false;

  // Of whoever prepares or executes the request in flight. Null if the model has no state.
  std::unique_ptr<SequenceStates> states;

  std::optional<SlotLease> lease;  // none: in the backlog
  std::list<QueuedRequest> queue;  // oldest first
  // The empty place of the request that is in flight, or taken over by Oldest. The request can come
  // back to this place without taking memory.
  std::list<QueuedRequest> taken;
  // The strategy of its instance knows that there is a request to take; Oldest has it already.
  bool offered = false;
  InferRequest* taken_over = nullptr;  // by Oldest, while offered
  bool in_flight = false;              // an instance, or the backend, has a request
  bool started = false;                // the model has seen it
  bool ending = false;  // nothing will be added to `queue`: it ends when that is empty
  // The flags that the maker of the first unreleased request has set, if they were changed since.
  std::optional<uint32_t> maker_flags;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_LIVE_SEQUENCE_H_
