// SPDX-License-Identifier: Apache-2.0
// Phases: where the time of a request went. Pure.
//
// The phases of a record follow each other without a gap, so their sum is the request's latency
// exactly. Times that are missing, out of order or outside the request (backends report their own)
// move to the nearest place that is possible, and never make a phase negative.
#ifndef NEREID_OBSERVE_RECORD_PHASES_H_
#define NEREID_OBSERVE_RECORD_PHASES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/export.h"
#include "observe/record/flight_record.h"

namespace nereid {

// In the order in which they happen.
enum class Phase : uint8_t {
  kAdmission,      // checks, until the scheduler has the request
  kCache,          // look-up in the response cache
  kSequenceSlot,   // waiting until a sequence gets a slot
  kQueue,          // waiting for others and for an instance
  kRateLimit,      // the batch was due; waiting for resources
  kDispatch,       // from leaving the queue to the start of the execution
  kComputeInput,   // the backend prepares inputs
  kComputeInfer,   // the model; for a backend that reports no times, all of the execution
  kSteps,          // the steps of an ensemble
  kComputeOutput,  // from the end of the computation to the final response
  kSending         // the receiver of the response takes it
};
inline constexpr size_t kPhases = 11;
// "admission", "sequence_slot", ...; lives as long as the program.
NEREID_API const char* NameOf(Phase phase);

struct Phases {
  std::array<uint64_t, kPhases> ns{};  // by Phase

  uint64_t operator[](Phase phase) const { return ns[static_cast<size_t>(phase)]; }
};

// From the start of the request until its final response was taken; 0 for a record without these.
uint64_t LatencyOf(const FlightRecord& record);
Phases PhasesOf(const FlightRecord& record);

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_PHASES_H_
