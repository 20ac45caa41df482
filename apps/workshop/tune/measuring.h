// SPDX-License-Identifier: Apache-2.0
// Measurements of a private server with the load generator of `nereid bench`. Functions that block;
// for one thread.
#ifndef NEREID_APPS_WORKSHOP_TUNE_MEASURING_H_
#define NEREID_APPS_WORKSHOP_TUNE_MEASURING_H_

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "bench/load_plan.h"
#include "bench/row_result.h"
#include "bench/row_run.h"
#include "bench/server_client.h"
#include "probe/probe_request.h"
#include "simulation/pipeline.h"
#include "tune/choice.h"
#include "tune/private_server.h"
#include "tune/service_times.h"
#include "tune/tune_options.h"

namespace nereid {

// Whom a measurement asks and tells.
struct MeasuringHooks {
  std::function<bool()> interrupted;                 // whether the user wants to end
  std::function<void(const std::string&)> progress;  // one line
};

class Measuring {
 public:
  // All outlive this object. `recorded`: the requests of a recording; otherwise empty.
  Measuring(const TuneOptions& options, const std::vector<bench::PlannedRequest>& recorded,
            const MeasuringHooks& hooks)
      : options_(options), recorded_(recorded), hooks_(hooks) {}

  // Which executions are measured.
  struct Executions {
    std::vector<std::string> models;  // the one that gets the load, or those of an ensemble's steps
    std::vector<PipelineStep> steps;  // of these models
    std::vector<int> batch_sizes;     // ascending; the first is that of the load
    std::vector<int> instances;       // that are at work at a time; ascending
  };
  struct StepTimes {
    ServiceTimes whole;                // its executions are those of all steps together
    std::vector<ServiceTimes> models;  // without what a request takes besides
  };
  // Errors of these: CANCELLED; what the server or the model's inputs do not allow.
  //
  // All but slowdowns, while nothing else is in flight. The server forms batches without delay, or
  // none.
  absl::StatusOr<StepTimes> Times(const PrivateServer& server, const Executions& executions) const;
  // What a request of the load takes while many are in flight to the one model.
  absl::Status AddBusy(const PrivateServer& server, ServiceTimes* times) const;
  // How much slower executions of the models are beside others. The server has the largest of
  // `instances` for each model, and forms no batches.
  absl::Status AddSlowdowns(const PrivateServer& server, const Executions& executions,
                            std::vector<ServiceTimes>* models) const;

  // A server with the configuration of `candidate` under the load, for this share of the usual
  // time; a recording has its own. A sweep is measured around the prediction, and is as good as its
  // best row.
  absl::StatusOr<Measurement> OfCandidate(const PrivateServer& server, const Judged& candidate,
                                          const std::string& name, double share) const;

 private:
  // What was measured with full batches and so many clients.
  struct Sample {
    bench::RowResult row;
    std::vector<double> execution_us;  // by model
    double cpu_us = 0;                 // of a request
  };

  // Under a closed loop, or requests at equal intervals. A request is expected to take
  // `expected_us`; 0: not known.
  absl::StatusOr<Sample> Measure(const PrivateServer& server,
                                 const std::vector<std::string>& models, int batch_size,
                                 const bench::RowLoad& load, double expected_us,
                                 const std::string& what) const;
  // What a request takes outside its executions, from requests of the load in flight one at a time.
  void TakeOverhead(const Executions& executions, const Sample& alone, ServiceTimes* times) const;
  // Of an open loop, requests find a server that is neither busy nor wide awake: takes what they
  // take besides from these, and adds what their executions take longer.
  absl::Status AdjustToRate(const PrivateServer& server, const Executions& executions,
                            StepTimes* times) const;
  absl::StatusOr<std::vector<bench::ModelCounts>> Counts(
      const ProbeTarget& server, const std::vector<std::string>& models) const;
  // A load without clients and rate is that of the recording.
  absl::StatusOr<bench::RowResult> Row(const bench::BenchOptions& options,
                                       const bench::RowLoad& load, const std::string& what) const;
  bench::BenchOptions OptionsFor(const ProbeTarget& server, int batch_size, double seconds) const;

  const TuneOptions& options_;
  const std::vector<bench::PlannedRequest>& recorded_;
  const MeasuringHooks& hooks_;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_MEASURING_H_
