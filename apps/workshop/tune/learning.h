// SPDX-License-Identifier: Apache-2.0
// Learning: finds out what a simulation has to know: completed configurations, and how long
// executions take. Measures on private servers, one at a time. Blocks; for one thread.
#ifndef NEREID_APPS_WORKSHOP_TUNE_LEARNING_H_
#define NEREID_APPS_WORKSHOP_TUNE_LEARNING_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/load_plan.h"
#include "config/compiled_model.h"
#include "tune/config_file.h"
#include "tune/measuring.h"
#include "tune/private_server.h"
#include "tune/tune_state.h"

namespace nereid {

class Learning {
 public:
  // `today`: of the models that are tuned. All outlive this object.
  Learning(const TuneOptions& options, const PrivateModel& served,
           const std::vector<ConfigText>& today, const Measuring& measuring,
           const MeasuringHooks& hooks)
      : options_(options), served_(served), today_(today), measuring_(measuring), hooks_(hooks) {}

  // Of all models as they are configured today, and of the ensemble if they belong to one.
  // FAILED_PRECONDITION in the server's words if they do not load.
  absl::Status ReadConfigs(bool ensemble, TuneState* state) const;

  // How long executions of the model take with an engine; with another one than today's, every
  // second size of batches is enough.
  absl::StatusOr<ServiceTimes> ModelTimes(const CompiledModel& model, const Engine& engine) const;

  // Likewise of an ensemble and its models, whose times are added to `state`.
  absl::Status AddEnsembleTimes(const CompiledModel& ensemble,
                                const std::vector<CompiledModel>& models, TuneState* state) const;

 private:
  // A server whose models have so many instances each. They form batches without delay, or none;
  // with several instances always none.
  // `engine`: null: today's.
  absl::StatusOr<std::unique_ptr<PrivateServer>> Start(const std::vector<CompiledModel>& models,
                                                       int32_t instances,
                                                       const Engine* engine) const;
  // Sizes of batches and counts of instances whose times are measured, ascending.
  std::vector<int> BatchSizes(const CompiledModel& served) const;
  std::vector<int> InstanceCounts() const;
  // What is measured on a server with one instance for each model, and what on one with the most.
  absl::StatusOr<Measuring::StepTimes> Times(const Measuring::Executions& executions,
                                             const std::vector<CompiledModel>& models,
                                             const Engine* engine) const;
  // Of the server's processes, with so many instances in all.
  void AddMemory(const PrivateServer& server, size_t instances, ServiceTimes* times) const;

  const TuneOptions& options_;
  const PrivateModel& served_;
  const std::vector<ConfigText>& today_;
  const Measuring& measuring_;
  const MeasuringHooks& hooks_;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_LEARNING_H_
