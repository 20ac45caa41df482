// Tuning: finds the best configuration of one model. Measures how long executions take, judges all
// candidates in the simulation, and measures the best ones for real, one private server at a time.
// Used by one thread; blocks.
#ifndef NEREID_APPS_NEREID_TUNE_TUNING_H_
#define NEREID_APPS_NEREID_TUNE_TUNING_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "bench/load_plan.h"
#include "config/compiled_model.h"
#include "tune/choice.h"
#include "tune/measuring.h"
#include "tune/private_server.h"
#include "tune/tune_options.h"
#include "tune/tune_state.h"

namespace nereid {

struct TuneResult {
  ServiceTimes times;
  std::vector<Judged> all;    // today's configuration first
  std::vector<size_t> shown;  // those that were measured, today's first
  size_t chosen = 0;
  bool keeps_goal = false;  // what was chosen
};

class Tuning {
 public:
  // `config`: the text of today's config.pbtxt; empty: there is none. All outlive this object.
  Tuning(const TuneOptions& options, const PrivateModel& model, const std::string& config,
         const MeasuringHooks& hooks)
      : options_(options), model_(model), config_(config), hooks_(hooks) {}

  // INVALID_ARGUMENT if an option or file is to blame, FAILED_PRECONDITION if the model cannot be
  // tuned or served, CANCELLED if the user wants to end. What was measured is then in the file of
  // the state.
  absl::StatusOr<TuneResult> Run();

 private:
  std::string Key() const;
  absl::Status ReadLoad();
  // The model and its times, from the state or measured.
  absl::Status Learn();
  absl::Status MeasureTimes();
  // FAILED_PRECONDITION if models like this one are not tuned.
  absl::Status CheckModel() const;
  // Sizes of batches and counts of instances whose times are measured, ascending.
  std::vector<int> BatchSizes() const;
  std::vector<int> InstanceCounts() const;
  absl::StatusOr<double> MemoryOfOne();

  absl::StatusOr<std::vector<Judged>> JudgeAll();
  absl::Status Measure(Judged* judged);

  const TuneOptions& options_;
  const PrivateModel& model_;
  const std::string& config_;
  const MeasuringHooks& hooks_;
  TuneState state_;
  TuneLoad load_;
  std::vector<bench::PlannedRequest> recorded_;
  CompiledModel compiled_;
  Candidate current_;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TUNE_TUNING_H_
