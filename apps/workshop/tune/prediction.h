// SPDX-License-Identifier: Apache-2.0
// What the simulation says about a candidate under a load. Pure functions.
#ifndef NEREID_APPS_WORKSHOP_TUNE_PREDICTION_H_
#define NEREID_APPS_WORKSHOP_TUNE_PREDICTION_H_

#include <absl/status/statusor.h>

#include <vector>

#include "apps/loadgen/arrivals.h"
#include "config/compiled_model.h"
#include "simulation/pipeline.h"
#include "simulation/workload.h"
#include "tune/service_times.h"

namespace nereid {

// The load for which a model is tuned.
struct TuneLoad {
  enum class Kind {
    kSweep,        // closed loops of more and more clients, of which the best counts
    kConcurrency,  // a closed loop
    kRate,         // an open loop
    kRecording,    // the arrivals of a recording
  };
  Kind kind = Kind::kSweep;
  int concurrency = 1;  // a sweep: at most
  double rate = 0;
  bench::Arrivals arrivals = bench::Arrivals::kPoisson;
  uint32_t batch_size = 1;                  // of a request
  std::vector<SimulatedRequest> recording;  // by arrival

  bool closed() const { return kind == Kind::kSweep || kind == Kind::kConcurrency; }
};

// How a model answers under a load, in a simulation or measured.
struct Performance {
  int concurrency = 0;    // closed loops: of clients
  double throughput = 0;  // requests answered per second
  double p50_us = 0;
  double p99_us = 0;
  double mean_batch = 0;  // requests of an execution
};

// How long a request is on its way through steps, of which some run beside each other.
// `execution_us`: by model.
double LongestWayUs(const std::vector<PipelineStep>& steps,
                    const std::vector<double>& execution_us);

// Lets answered requests (SimulatedOutcome or FleetOutcome, by number) end later by what they are
// outside queue and execution.
template <typename Outcome>
void AddOverhead(const ServiceTimes& times, std::vector<Outcome>* requests) {
  for (size_t i = 0; i < requests->size(); ++i) {
    Outcome& request = (*requests)[i];
    if (request.outcome != FlightOutcome::kOk) continue;
    request.ended_ns += static_cast<uint64_t>(times.OverheadUs(i) * 1e3);
  }
}

// An ensemble, and how long it takes.
struct PredictedEnsemble {
  Pipeline pipeline;
  ServiceTimes whole;
  std::vector<ServiceTimes> models;  // of the pipeline
};

// Of a sweep it is the largest throughput that keeps `most_p99_us`; 0: there is no limit. Errors of
// the simulation.
absl::StatusOr<Performance> Predict(const CompiledModel& model, const ServiceTimes& times,
                                    const TuneLoad& load, double most_p99_us);
absl::StatusOr<Performance> Predict(const PredictedEnsemble& ensemble, const TuneLoad& load,
                                    double most_p99_us);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_PREDICTION_H_
