// SPDX-License-Identifier: Apache-2.0
// Tuning: finds the best configuration of a model, or of the members of an ensemble. Measures how
// long executions take, judges many configurations in the simulation, and measures the best ones
// for real, on private servers of which one has a load at a time. Used by one thread; blocks.
#ifndef NEREID_APPS_WORKSHOP_TUNE_TUNING_H_
#define NEREID_APPS_WORKSHOP_TUNE_TUNING_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/load_plan.h"
#include "config/compiled_model.h"
#include "tune/choice.h"
#include "tune/config_file.h"
#include "tune/learning.h"
#include "tune/measuring.h"
#include "tune/private_server.h"
#include "tune/tune_options.h"
#include "tune/tune_state.h"

namespace nereid {

struct TuneResult {
  std::vector<std::string> models;         // that are tuned; the other vectors have their order
  std::vector<CompiledModel> compiled;     // as they are configured today
  TuneState state;                         // what was learned
  std::vector<Judged> all;                 // today's configuration first
  std::vector<size_t> shown;               // those that were measured, today's first
  std::map<Engine, std::string> left_out;  // why these cannot serve the model
  size_t chosen = 0;
  bool keeps_goal = false;  // what was chosen
};

class Tuning {
 public:
  // `today`: of the models that are tuned: `served`, or those of its steps if `ensemble` is set.
  // All outlive this object.
  Tuning(const TuneOptions& options, const PrivateModel& served,
         const std::vector<ConfigText>& today, bool ensemble, const MeasuringHooks& hooks)
      : options_(options), served_(served), today_(today), is_ensemble_(ensemble), hooks_(hooks) {}

  // INVALID_ARGUMENT if an option or file is to blame, FAILED_PRECONDITION if the model cannot be
  // tuned or served, CANCELLED if the user wants to end. What was measured is then in the file of
  // the state.
  absl::StatusOr<TuneResult> Run();

 private:
  std::string Key() const;
  absl::Status ReadLoad();
  // The models and their times, from the state or measured.
  absl::Status Learn(const Measuring& measuring);
  absl::Status LearnEngines(const Learning& learning);
  // Fills `models_` and `ensemble_` from the state. FAILED_PRECONDITION and INVALID_ARGUMENT if
  // they are not tuned, or not with these options.
  absl::Status TakeConfigs();

  absl::StatusOr<std::vector<Judged>> JudgeAll();
  absl::StatusOr<Judged> JudgeOne(const Configuration& configuration) const;
  // Fills `shown`.
  absl::Status MeasureBest(const Measuring& measuring, TuneResult* result);
  // Measures again what may have been lucky.
  absl::Status Confirm(const Measuring& measuring, TuneResult* result);
  // Unless an earlier run has done it.
  absl::Status MeasureOnce(const Measuring& measuring, Judged* judged);
  // Several times, in turns, so that what disturbs the machine disturbs all alike.
  absl::Status MeasureInTurns(const Measuring& measuring, const std::vector<Judged*>& group);
  absl::StatusOr<std::unique_ptr<PrivateServer>> Start(const Judged& judged) const;
  absl::Status Take(const Measurement& measurement, Judged* judged);

  const TuneOptions& options_;
  const PrivateModel& served_;
  const std::vector<ConfigText>& today_;
  const bool is_ensemble_;
  const MeasuringHooks& hooks_;
  TuneState state_;
  TuneLoad load_;
  std::vector<bench::PlannedRequest> recorded_;
  std::vector<std::string> names_;     // of the models that are tuned
  std::vector<CompiledModel> models_;  // likewise
  std::optional<CompiledModel> ensemble_;
  std::map<Engine, std::string> left_out_;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_TUNING_H_
