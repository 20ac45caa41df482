#include "tune/prediction.h"

#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "simulation/simulate.h"

namespace nereid {
namespace {

// Requests of a simulation: so many for each client, within bounds.
constexpr size_t kRequestsOfClient = 40;
constexpr size_t kLeastRequests = 400;
constexpr size_t kMostRequests = 4000;
constexpr uint64_t kSeed = 1;
// A sweep ends when more clients bring less than this.
constexpr double kWorthwhile = 1.02;

Performance Of(const std::vector<SimulatedRequest>& load, const SimulationResult& result,
               double overhead_us) {
  const SimulationSummary summary = Summarise(load, result);
  uint64_t last = 0;
  for (const SimulatedOutcome& request : result.requests) last = std::max(last, request.ended_ns);
  Performance performance;
  const double seconds =
      static_cast<double>(last - load.front().arrival_ns) * 1e-9 + overhead_us * 1e-6;
  performance.throughput = static_cast<double>(summary.executed) / seconds;
  performance.p50_us = static_cast<double>(summary.p50_ns) * 1e-3 + overhead_us;
  performance.p99_us = static_cast<double>(summary.p99_ns) * 1e-3 + overhead_us;
  performance.mean_batch = summary.mean_batch;
  return performance;
}

absl::StatusOr<Performance> Closed(const CompiledModel& model, const ServiceTimes& times,
                                   uint32_t batch_size, int concurrency) {
  const size_t clients = static_cast<size_t>(concurrency);
  SimulatedRequest request;
  request.batch_size = batch_size;
  std::vector<SimulatedRequest> load(
      std::clamp(clients * kRequestsOfClient, kLeastRequests, std::max(kMostRequests, clients)),
      request);
  MeasuredMachine machine(times);
  const Duration pause(static_cast<int64_t>(times.overhead_us * 1e3));
  ASSIGN_OR_RETURN(const SimulationResult result,
                   SimulateClosedLoop(model, {clients, pause}, &load, &machine));
  Performance performance = Of(load, result, times.overhead_us);
  performance.concurrency = concurrency;
  return performance;
}

absl::StatusOr<Performance> Open(const CompiledModel& model, const ServiceTimes& times,
                                 const std::vector<SimulatedRequest>& load) {
  MeasuredMachine machine(times);
  ASSIGN_OR_RETURN(const SimulationResult result, Simulate(model, load, &machine));
  return Of(load, result, times.overhead_us);
}

std::vector<SimulatedRequest> AtRate(const TuneLoad& load) {
  bench::ArrivalTimes times(load.arrivals, load.rate, kMostRequests / load.rate, kSeed);
  std::vector<SimulatedRequest> requests;
  while (const std::optional<std::chrono::nanoseconds> at = times.Next()) {
    SimulatedRequest& request = requests.emplace_back();
    request.arrival_ns = static_cast<uint64_t>(at->count()) + 1;
    request.batch_size = load.batch_size;
  }
  return requests;
}

absl::StatusOr<Performance> Sweep(const CompiledModel& model, const ServiceTimes& times,
                                  const TuneLoad& load, double most_p99_us) {
  ASSIGN_OR_RETURN(Performance best, Closed(model, times, load.batch_size, 1));
  double before = best.throughput;
  for (int clients = 2; clients <= load.concurrency; clients *= 2) {
    ASSIGN_OR_RETURN(const Performance next, Closed(model, times, load.batch_size, clients));
    if (most_p99_us > 0 && next.p99_us > most_p99_us) break;
    if (next.throughput > best.throughput * kWorthwhile) best = next;
    // A batch may need more clients than the step before had, so one step without gain is allowed.
    if (next.throughput < before * kWorthwhile && clients > 4) break;
    before = next.throughput;
  }
  return best;
}

}  // namespace

absl::StatusOr<Performance> Predict(const CompiledModel& model, const ServiceTimes& times,
                                    const TuneLoad& load, double most_p99_us) {
  switch (load.kind) {
    case TuneLoad::Kind::kConcurrency:
      return Closed(model, times, load.batch_size, load.concurrency);
    case TuneLoad::Kind::kRate:
      return Open(model, times, AtRate(load));
    case TuneLoad::Kind::kRecording:
      return Open(model, times, load.recording);
    case TuneLoad::Kind::kSweep:
      break;
  }
  return Sweep(model, times, load, most_p99_us);
}

}  // namespace nereid
