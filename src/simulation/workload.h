// SPDX-License-Identifier: Apache-2.0
// What a simulation is given, and what it finds out. Plain values.
#ifndef NEREID_SIMULATION_WORKLOAD_H_
#define NEREID_SIMULATION_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/export.h"
#include "model/correlation_id.h"
#include "observe/record/flight_record.h"
#include "scheduling/batch.h"

namespace nereid {

// A request of the load. Times are nanoseconds of the simulated clock, from 1.
struct SimulatedRequest {
  uint64_t arrival_ns = 0;
  uint32_t batch_size = 1;
  uint64_t priority = 0;  // as asked; 0: the model's default
  uint64_t timeout_us = 0;
  uint32_t flags = 0;      // kRequestFlagSequence*
  CorrelationId sequence;  // of the sequence; default: of none
  uint32_t shapes = 0;     // requests with equal keys have inputs of equal shapes
};

// Clients of a closed loop: each sends its next request when the one before has been answered.
struct ClosedLoop {
  size_t clients = 1;
  Duration pause{0};  // between an answer and the client's next request
};

struct SimulatedBatch {
  uint64_t pulled_ns = 0;
  uint64_t ended_ns = 0;
  uint32_t instance = 0;
  BatchReason why = BatchReason::kNotBatched;
  uint32_t units = 0;             // the members' batch sizes together
  uint32_t fillers = 0;           // of a model with sequences
  std::vector<uint32_t> members;  // numbers of the requests, as the batch has them
};

// What became of a request.
struct SimulatedOutcome {
  FlightOutcome outcome = FlightOutcome::kError;
  std::optional<size_t> batch;  // the last batch that it was in
  uint64_t ended_ns = 0;        // answered
};

// Latencies of the requests that were executed, in nanoseconds.
struct SimulationSummary {
  size_t executed = 0;
  uint64_t p50_ns = 0, p90_ns = 0, p99_ns = 0;
  double mean_batch = 0;  // requests of a batch
};

struct SimulationResult {
  std::vector<SimulatedBatch> batches;     // in the order in which they left the queue
  std::vector<SimulatedOutcome> requests;  // by number
};

// A line for each batch; the same result gives the same bytes.
NEREID_API std::string BatchesText(const SimulationResult& result);
NEREID_API SimulationSummary Summarise(const std::vector<SimulatedRequest>& load,
                                       const SimulationResult& result);

// The value below which the share `q` of the values lies; 0 without values. REQUIRES: `sorted` is
// sorted.
uint64_t Quantile(const std::vector<uint64_t>& sorted, double q);

// How the machine behaves. Asked by one thread, at simulated times that never go back.
class MachineModel {
 public:
  virtual ~MachineModel() = default;
  // A request comes at `now_ns`: when it reaches the queue, at or after that. Requests do not
  // overtake each other.
  virtual uint64_t QueuesAt(uint64_t now_ns) { return now_ns; }
  // How long an instance is busy with `batch`, whose end is not known yet. At least 0.
  virtual Duration BusyWith(const SimulatedBatch& batch) = 0;
  // How long it then takes until it looks for the next batch. At least 0.
  virtual Duration RestAfter(const SimulatedBatch& batch) { return Duration(0); }
  // An idle instance learns at `due_ns` that a batch is due: when it looks for the batch, at or
  // after `due_ns`. `oldest`: of the waiting requests of the highest priority, the one that has
  // waited longest.
  virtual uint64_t LooksAt(uint64_t due_ns, std::optional<uint32_t> oldest) { return due_ns; }
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_WORKLOAD_H_
