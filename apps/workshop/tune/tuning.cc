// SPDX-License-Identifier: Apache-2.0
#include "tune/tuning.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "process_stat/available_memory.h"
#include "replay/recorded_load.h"
#include "simulation/simulated_config.h"
#include "tune/next_measurement.h"
#include "tune/search.h"
#include "tune/tunable.h"

namespace nereid {
namespace {

// Of the time of a usual measurement: all turns of a configuration that may be the best, and each.
constexpr double kShareOfTurns = 1.2;
constexpr double kLeastShareOfTurn = 0.1;
constexpr double kMostShareOfTurn = 0.4;
constexpr double kRequestsOfTurn = 300;
// When some were measured again, others may be better than the best of them: a second round.
constexpr int kMostRounds = 2;
// Servers that have less than this of the memory may run side by side.
constexpr double kShareOfMemory = 0.5;

// Long enough for slow models, and short enough for what disturbs the machine for a second to
// disturb all configurations alike.
double ShareOfTurn(const std::vector<Judged*>& group, double seconds) {
  double share = kLeastShareOfTurn;
  for (const Judged* const judged : group) {
    const double requests = judged->measured->performance.throughput * seconds;
    share = std::max(share, kRequestsOfTurn / std::max(requests, 1.0));
  }
  return std::min(share, kMostShareOfTurn);
}

std::vector<Judged> Shown(const TuneResult& result) {
  std::vector<Judged> shown;
  for (const size_t i : result.shown) shown.push_back(result.all[i]);
  return shown;
}

// 0: not known.
double AvailableMemoryMib() {
  return static_cast<double>(AvailableMemory().value_or(0)) / (1 << 20);
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
  result.all[0].today = true;
  RETURN_IF_ERROR(MeasureBest(measuring, &result));
  RETURN_IF_ERROR(Confirm(measuring, &result));
  const std::vector<Judged> measured = Shown(result);
  const size_t best = Chosen(measured, options_.goal);
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
  RETURN_IF_ERROR(MeasureOnce(measuring, &result->all[0]));
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
    RETURN_IF_ERROR(MeasureOnce(measuring, &result->all[*next]));
    result->shown.push_back(*next);
  }
  return absl::OkStatus();
}

absl::Status Tuning::Confirm(const Measuring& measuring, TuneResult* result) {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<Judged> measured = Shown(*result);
    std::vector<Judged*> group;
    double memory_mib = 0;
    for (const size_t i : ToConfirm(measured, options_.goal)) {
      group.push_back(&result->all[result->shown[i]]);
      memory_mib += measured[i].memory_mib();
    }
    if (group.empty()) break;
    if (memory_mib <= kShareOfMemory * AvailableMemoryMib()) {
      RETURN_IF_ERROR(MeasureInTurns(measuring, group));
    } else {
      for (Judged* const judged : group) RETURN_IF_ERROR(MeasureInTurns(measuring, {judged}));
    }
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

absl::Status Tuning::MeasureOnce(const Measuring& measuring, Judged* judged) {
  if (const Measurement* const known = state_.Find(judged->configuration); known != nullptr) {
    judged->measured = *known;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<PrivateServer> server, Start(*judged));
  ASSIGN_OR_RETURN(
      const Measurement measurement,
      measuring.OfCandidate(*server, *judged, NameOf(judged->configuration, names_), 1));
  return Take(measurement, judged);
}

absl::Status Tuning::MeasureInTurns(const Measuring& measuring, const std::vector<Judged*>& group) {
  std::vector<std::unique_ptr<PrivateServer>> servers;
  for (const Judged* const judged : group) {
    ASSIGN_OR_RETURN(servers.emplace_back(), Start(*judged));
  }
  std::vector<std::vector<Measurement>> measured(group.size());
  const double share = ShareOfTurn(group, options_.seconds);
  // A recording has its own length, and is played once more.
  const int turns =
      options_.recording.empty() ? static_cast<int>(std::lround(kShareOfTurns / share)) : 1;
  for (size_t i = 0; turns == 1 && i < group.size(); ++i) measured[i] = {*group[i]->measured};
  for (int turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < group.size(); ++i) {
      const std::string name = NameOf(group[i]->configuration, names_);
      ASSIGN_OR_RETURN(measured[i].emplace_back(),
                       measuring.OfCandidate(*servers[i], *group[i], name, share));
    }
  }
  for (size_t i = 0; i < group.size(); ++i) {
    RETURN_IF_ERROR(Take(MedianOf(measured[i]), group[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PrivateServer>> Tuning::Start(const Judged& judged) const {
  hooks_.progress(NameOf(judged.configuration, names_) + ": starting a private server");
  ASSIGN_OR_RETURN(const std::vector<ConfigText> configs,
                   WithConfiguration(today_, models_, judged.configuration));
  return PrivateServer::Start(served_, configs, hooks_.interrupted);
}

absl::Status Tuning::Take(const Measurement& measurement, Judged* judged) {
  judged->measured = measurement;
  state_.Put(judged->configuration, measurement);
  return SaveTuneState(options_.state_file, state_);
}

}  // namespace nereid
