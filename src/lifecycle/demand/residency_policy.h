// SPDX-License-Identifier: Apache-2.0
// The residency policy: which models leave so that another one can be loaded within a memory
// budget, and which leave because nobody uses them. Pure: plain values in, plain values out.
#ifndef NEREID_LIFECYCLE_DEMAND_RESIDENCY_POLICY_H_
#define NEREID_LIFECYCLE_DEMAND_RESIDENCY_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"

namespace nereid {

// A model that is loaded.
struct ResidentModel {
  std::string name;
  uint64_t bytes = 0;     // its measured footprint
  TimePoint loaded_at{};  // the end of its load
  Duration stays{0};      // at least so long: as the load took, or until its client has come back
  TimePoint last_used{};
  bool busy = false;    // has requests in flight, live sequences, or an ensemble that is loaded
  bool pinned = false;  // leaves only when somebody asks for it
};

struct MemoryState {
  uint64_t budget = 0;
  std::vector<ResidentModel> residents;
  uint64_t loading_bytes = 0;    // remembered footprints of the models that are being loaded
  uint64_t leaving_bytes = 0;    // footprints of those that are being unloaded
  size_t loading = 0;            // models that are being loaded
  bool loading_unknown = false;  // a model without a remembered footprint is being loaded
};

struct LoadDecision {
  enum class Kind {
    kBegin,   // unload `victims`; when they are gone, load
    kWait,    // nothing may leave that would make room: ask again at `again_at`, or at a change
    kRefuse,  // the model does not fit even if all that may ever leave has left
  };
  Kind kind = Kind::kWait;
  bool room_comes = false;                // kWait: only until what is being unloaded is gone
  std::vector<size_t> victims;            // kBegin: indices of residents, in the order of their end
  TimePoint again_at = TimePoint::max();  // kWait: max: only a change helps
  uint64_t most_bytes = 0;                // kRefuse: what could be made free at most
};

// Whether a model with a footprint of `bytes` may be loaded at `now`. 0: nobody has measured it
// yet. Such a model needs any free byte, and one of them is loaded at a time, so that the memory in
// use exceeds the budget by one model at most.
LoadDecision DecideLoad(const MemoryState& state, uint64_t bytes, TimePoint now);

// The residents that leave at `now` so that the budget is kept again after a model has turned out
// larger than remembered. As many as may leave, if that is not enough. In the order of their end.
std::vector<size_t> DecideTrim(const MemoryState& state, TimePoint now);

// The residents that nobody has used for `limit` at `now`.
std::vector<size_t> DecideIdle(const MemoryState& state, Duration limit, TimePoint now);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_DEMAND_RESIDENCY_POLICY_H_
