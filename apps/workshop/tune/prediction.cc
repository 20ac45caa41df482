// SPDX-License-Identifier: Apache-2.0
#include "tune/prediction.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "simulation/simulate.h"
#include "tune/measured_machine.h"

namespace nereid {
namespace {

// Requests of a simulation: so many for each client, within bounds.
constexpr size_t kRequestsOfClient = 40;
constexpr size_t kLeastRequests = 400;
constexpr size_t kMostRequests = 4000;
constexpr uint64_t kSeed = 1;
// A sweep ends when more clients bring less than this.
constexpr double kWorthwhile = 1.02;

Performance Of(const std::vector<SimulatedRequest>& load, const ServiceTimes& times,
               SimulationResult result) {
  AddOverhead(times, &result.requests);
  const SimulationSummary summary = Summarise(load, result);
  uint64_t last = 0;
  for (const SimulatedOutcome& request : result.requests) last = std::max(last, request.ended_ns);
  Performance performance;
  const double seconds = static_cast<double>(last - load.front().arrival_ns) * 1e-9;
  performance.throughput = static_cast<double>(summary.executed) / seconds;
  performance.p50_us = static_cast<double>(summary.p50_ns) * 1e-3;
  performance.p99_us = static_cast<double>(summary.p99_ns) * 1e-3;
  performance.mean_batch = summary.mean_batch;
  return performance;
}

// What is simulated: a model or an ensemble.
struct Subject {
  const ServiceTimes& times;  // of a request
  // A closed loop, or the arrivals that `requests` has.
  std::function<absl::StatusOr<SimulationResult>(const std::optional<ClosedLoop>& clients,
                                                 std::vector<SimulatedRequest>* requests)>
      simulate;
};

absl::StatusOr<Performance> Closed(const Subject& subject, uint32_t batch_size, int concurrency) {
  const size_t clients = static_cast<size_t>(concurrency);
  SimulatedRequest request;
  request.batch_size = batch_size;
  std::vector<SimulatedRequest> load(
      std::clamp(clients * kRequestsOfClient, kLeastRequests, std::max(kMostRequests, clients)),
      request);
  const Duration pause(static_cast<int64_t>(subject.times.overhead_us * 1e3));
  ASSIGN_OR_RETURN(SimulationResult result, subject.simulate(ClosedLoop{clients, pause}, &load));
  Performance performance = Of(load, subject.times, std::move(result));
  performance.concurrency = concurrency;
  return performance;
}

absl::StatusOr<Performance> Open(const Subject& subject, std::vector<SimulatedRequest> load) {
  ASSIGN_OR_RETURN(SimulationResult result, subject.simulate(std::nullopt, &load));
  return Of(load, subject.times, std::move(result));
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

absl::StatusOr<Performance> Sweep(const Subject& subject, const TuneLoad& load,
                                  double most_p99_us) {
  ASSIGN_OR_RETURN(Performance best, Closed(subject, load.batch_size, 1));
  double before = best.throughput;
  for (int clients = 2; clients <= load.concurrency; clients *= 2) {
    ASSIGN_OR_RETURN(const Performance next, Closed(subject, load.batch_size, clients));
    if (most_p99_us > 0 && next.p99_us > most_p99_us) break;
    if (next.throughput > best.throughput * kWorthwhile) best = next;
    // A batch may need more clients than the step before had, so one step without gain is allowed.
    if (next.throughput < before * kWorthwhile && clients > 4) break;
    before = next.throughput;
  }
  return best;
}

absl::StatusOr<Performance> Under(const Subject& subject, const TuneLoad& load,
                                  double most_p99_us) {
  switch (load.kind) {
    case TuneLoad::Kind::kConcurrency:
      return Closed(subject, load.batch_size, load.concurrency);
    case TuneLoad::Kind::kRate:
      return Open(subject, AtRate(load));
    case TuneLoad::Kind::kRecording:
      return Open(subject, load.recording);
    case TuneLoad::Kind::kSweep:
      break;
  }
  return Sweep(subject, load, most_p99_us);
}

}  // namespace

double LongestWayUs(const std::vector<PipelineStep>& steps,
                    const std::vector<double>& execution_us) {
  std::vector<double> ends(steps.size());
  for (size_t round = 0; round < steps.size(); ++round) {  // a step may be listed before its inputs
    for (size_t i = 0; i < steps.size(); ++i) {
      double begin = 0;
      for (const size_t before : steps[i].after) begin = std::max(begin, ends[before]);
      ends[i] = begin + execution_us[steps[i].model];
    }
  }
  return *std::max_element(ends.begin(), ends.end());
}

absl::StatusOr<Performance> Predict(const CompiledModel& model, const ServiceTimes& times,
                                    const TuneLoad& load, double most_p99_us) {
  const auto simulate = [&](const std::optional<ClosedLoop>& clients,
                            std::vector<SimulatedRequest>* requests) {
    MeasuredMachine machine(times);
    return clients.has_value() ? SimulateClosedLoop(model, *clients, requests, &machine)
                               : Simulate(model, *requests, &machine);
  };
  return Under({times, simulate}, load, most_p99_us);
}

absl::StatusOr<Performance> Predict(const PredictedEnsemble& ensemble, const TuneLoad& load,
                                    double most_p99_us) {
  const auto simulate = [&](const std::optional<ClosedLoop>& clients,
                            std::vector<SimulatedRequest>* requests) {
    BusyProcessors processors(ensemble.whole.processors);
    MeasuredMachine entry(ensemble.whole, &processors);
    std::vector<std::unique_ptr<MeasuredMachine>> machines;
    PipelineMachines all{&entry, {}};
    for (const ServiceTimes& times : ensemble.models) {
      machines.push_back(std::make_unique<MeasuredMachine>(times, &processors));
      all.models.push_back(machines.back().get());
    }
    return SimulatePipeline(ensemble.pipeline, all, clients, requests);
  };
  return Under({ensemble.whole, simulate}, load, most_p99_us);
}

}  // namespace nereid
