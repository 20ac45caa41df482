#include "tune/tuning.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "replay/recorded_load.h"
#include "simulation/simulated_config.h"
#include "tune/next_measurement.h"
#include "tune/search.h"
#include "tune/tunable.h"

namespace nereid {
namespace {

std::vector<Judged> Shown(const TuneResult& result) {
  std::vector<Judged> shown;
  for (const size_t i : result.shown) shown.push_back(result.all[i]);
  return shown;
}

}  // namespace

// Everything on which measured values depend.
std::string Tuning::Key() const {
  const TuneLoad& load = options_.load;
  std::string key = absl::StrCat(options_.model, " ", served_.repository, " ", is_ensemble_, "\n");
  for (const ConfigText& config : today_) {
    absl::StrAppend(&key, config.model, "\n", config.text, "\n");
  }
  absl::StrAppend(&key, static_cast<int>(load.kind), " ", load.concurrency, " ", load.rate, " ",
                  static_cast<int>(load.arrivals), " ", load.batch_size, " ", options_.recording,
                  " ", options_.max_instances, " ", options_.seconds, " ", options_.goal.p99_us,
                  " ", options_.goal.needs_memory(), " ", static_cast<int>(options_.goal.objective),
                  " ", absl::StrJoin(options_.max_batch_sizes, ","), " ",
                  absl::StrJoin(options_.threads, ","), " ", options_.same_backend, " ",
                  absl::StrJoin(options_.server_options, " "), " ",
                  absl::StrJoin(options_.load_models, " "));
  for (const auto& [name, file] : options_.inputs.files)
    absl::StrAppend(&key, " ", name, ":", file);
  for (const auto& [name, shape] : options_.inputs.shapes) {
    absl::StrAppend(&key, " ", name, ":", absl::StrJoin(shape, ","));
  }
  return key;
}

absl::Status Tuning::ReadLoad() {
  load_ = options_.load;
  if (options_.recording.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(recorded_,
                   ReadRecordedLoad(options_.recording, options_.model, /*with_inputs=*/true));
  load_.recording = SimulatedLoad(recorded_);
  return absl::OkStatus();
}

absl::StatusOr<TuneResult> Tuning::Run() {
  RETURN_IF_ERROR(ReadLoad());
  for (const ConfigText& config : today_) names_.push_back(config.model);
  ASSIGN_OR_RETURN(state_, LoadTuneState(options_.state_file, Key()));
  const Measuring measuring(options_, recorded_, hooks_);
  RETURN_IF_ERROR(Learn(measuring));
  TuneResult result;
  ASSIGN_OR_RETURN(result.all, JudgeAll());
  RETURN_IF_ERROR(MeasureBest(measuring, &result));
  RETURN_IF_ERROR(Confirm(measuring, &result));
  const std::vector<Judged> measured = Shown(result);
  const size_t best = Best(measured, options_.goal, 1)[0];
  result.chosen = result.shown[best];
  result.keeps_goal = Keeps(measured[best], options_.goal);
  result.models = names_;
  result.compiled = models_;
  result.state = std::move(state_);
  result.left_out = std::move(left_out_);
  return result;
}

absl::Status Tuning::MeasureBest(const Measuring& measuring, TuneResult* result) {
  // Today's configuration, what was measured before, and then the best ones.
  RETURN_IF_ERROR(MeasureTimes(measuring, 1, &result->all[0]));
  result->shown = {0};
  for (size_t i = 1; i < result->all.size(); ++i) {
    const Measurement* const known = state_.Find(result->all[i].configuration);
    if (known == nullptr) continue;
    result->all[i].measured = *known;
    result->shown.push_back(i);
  }
  while (result->shown.size() <= static_cast<size_t>(options_.measure)) {
    const std::optional<size_t> next = NextToMeasure(result->all, options_.goal);
    if (!next.has_value()) break;
    RETURN_IF_ERROR(MeasureTimes(measuring, 1, &result->all[*next]));
    result->shown.push_back(*next);
  }
  return absl::OkStatus();
}

absl::Status Tuning::Confirm(const Measuring& measuring, TuneResult* result) {
  const std::vector<Judged> measured = Shown(*result);
  const std::vector<size_t> near = ToConfirm(measured, options_.goal);
  // A run before this one may have done it, or begun.
  auto confirmed = static_cast<size_t>(
      absl::c_count_if(measured, [](const Judged& judged) { return judged.measured->times > 1; }));
  for (const size_t i : near) {
    if (confirmed >= near.size()) break;
    if (measured[i].measured->times > 1) continue;
    RETURN_IF_ERROR(MeasureTimes(measuring, 2, &result->all[result->shown[i]]));
    ++confirmed;
  }
  return absl::OkStatus();
}

absl::Status Tuning::TakeConfigs() {
  for (const LearnedModel& model : state_.models) {
    ASSIGN_OR_RETURN(models_.emplace_back(), ModelFromJson(model.config_json));
    RETURN_IF_ERROR(CheckTunable(models_.back()));
  }
  if (!is_ensemble_) return CheckOptionsFor(models_[0], options_);
  ASSIGN_OR_RETURN(ensemble_, ModelFromJson(state_.ensemble->config_json));
  return CheckOptionsFor(*ensemble_, options_);
}

absl::Status Tuning::Learn(const Measuring& measuring) {
  const Learning learning(options_, served_, today_, measuring, hooks_);
  if (state_.models.empty()) RETURN_IF_ERROR(learning.ReadConfigs(is_ensemble_, &state_));
  RETURN_IF_ERROR(TakeConfigs());
  if (is_ensemble_) {
    if (!state_.ensemble->times.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(learning.AddEnsembleTimes(*ensemble_, models_, &state_));
    return SaveTuneState(options_.state_file, state_);
  }
  return LearnEngines(learning);
}

absl::Status Tuning::LearnEngines(const Learning& learning) {
  const CompiledModel& model = models_[0];
  const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::string> others;
  if (!options_.same_backend) {
    others = OtherBackendsFor(model, InstalledBackends(served_.backend_directory));
  }
  for (const Engine& engine : EnginesFor(model, processors, options_.threads, others)) {
    if (state_.models[0].times.contains(engine)) continue;
    absl::StatusOr<ServiceTimes> times = learning.ModelTimes(model, engine);
    if (absl::IsFailedPrecondition(times.status()) && !engine.backend.empty()) {
      left_out_[engine] = std::string(times.status().message());
      continue;
    }
    RETURN_IF_ERROR(times.status());
    state_.models[0].times[engine] = *std::move(times);
    RETURN_IF_ERROR(SaveTuneState(options_.state_file, state_));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Judged>> Tuning::JudgeAll() {
  std::vector<std::vector<Candidate>> candidates;
  for (size_t i = 0; i < models_.size(); ++i) {
    SearchSpace space;
    space.max_instances = options_.max_instances;
    space.max_batch_sizes.assign(options_.max_batch_sizes.begin(), options_.max_batch_sizes.end());
    for (const auto& [engine, times] : state_.models[i].times) {
      space.request_us[engine] = times.BatchUs(static_cast<int>(load_.batch_size));
    }
    candidates.push_back(CandidatesFor(CurrentOf(models_[i]), space));
  }
  size_t judged = 0;
  return JudgeConfigurations(
      candidates, options_.goal, static_cast<size_t>(options_.measure),
      [&](const Configuration& configuration) -> absl::StatusOr<Judged> {
        if (hooks_.interrupted()) return absl::CancelledError("interrupted");
        hooks_.progress(absl::StrCat("simulating ", ++judged, ": ", NameOf(configuration, names_)));
        return JudgeOne(configuration);
      });
}

absl::StatusOr<Judged> Tuning::JudgeOne(const Configuration& configuration) const {
  Judged judged;
  judged.configuration = configuration;
  if (!is_ensemble_) {
    const Candidate& candidate = configuration[0];
    const ServiceTimes& times = state_.models[0].times.at(candidate.engine);
    ASSIGN_OR_RETURN(judged.predicted,
                     Predict(With(models_[0], candidate), times, load_, options_.goal.p99_us));
    judged.predicted_memory_mib = times.MemoryMib(candidate.instances);
    return judged;
  }
  PredictedEnsemble predicted;
  predicted.whole = state_.ensemble->times.at(Engine());
  predicted.pipeline.steps = StepsOf(ensemble_->ensemble);
  for (size_t i = 0; i < models_.size(); ++i) {
    predicted.pipeline.models.push_back(With(models_[i], configuration[i]));
    predicted.models.push_back(state_.models[i].times.at(configuration[i].engine));
  }
  ASSIGN_OR_RETURN(judged.predicted, Predict(predicted, load_, options_.goal.p99_us));
  judged.predicted_memory_mib = predicted.whole.MemoryMib(InstancesOf(configuration));
  return judged;
}

absl::Status Tuning::MeasureTimes(const Measuring& measuring, int times, Judged* judged) {
  if (const Measurement* const known = state_.Find(judged->configuration); known != nullptr) {
    judged->measured = *known;
  }
  while (!judged->measured.has_value() || judged->measured->times < times) {
    ASSIGN_OR_RETURN(const Measurement measurement, MeasureOnce(measuring, *judged));
    judged->measured =
        judged->measured.has_value() ? Together(*judged->measured, measurement) : measurement;
    state_.Put(judged->configuration, *judged->measured);
    RETURN_IF_ERROR(SaveTuneState(options_.state_file, state_));
  }
  return absl::OkStatus();
}

absl::StatusOr<Measurement> Tuning::MeasureOnce(const Measuring& measuring,
                                                const Judged& judged) const {
  const std::string name = NameOf(judged.configuration, names_);
  hooks_.progress(name + ": starting a private server");
  ASSIGN_OR_RETURN(const std::vector<ConfigText> configs,
                   WithConfiguration(today_, models_, judged.configuration));
  ASSIGN_OR_RETURN(const std::unique_ptr<PrivateServer> server,
                   PrivateServer::Start(served_, configs, hooks_.interrupted));
  ASSIGN_OR_RETURN(Measurement measurement,
                   measuring.OfCandidate(server->target(), judged.predicted, name));
  measurement.memory_mib = server->MemoryMib();
  return measurement;
}

}  // namespace nereid
