// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <utility>

#include "base/status_macros.h"
#include "capacity/capacity.h"
#include "simulation/simulated_config.h"
#include "tune/tune_state.h"

namespace nereid {
namespace {

// Longer times, in microseconds, and larger factors are mistakes of the file.
constexpr double kMostUs = 1e10;
constexpr double kMostFactor = 1e4;
constexpr char kNoTimes[] = "it has no measured times; let `nereid tune` run to its end";

bool AreBetween(const std::map<int, double>& values, double least, double most) {
  for (const auto& [at, value] : values) {
    if (!(value >= least && value <= most)) return false;
  }
  return true;
}

bool ArePossible(const ServiceTimes& times) {
  const auto is_time = [](double us) { return us >= 0 && us <= kMostUs; };
  for (const auto& [units, by_busy] : times.slowdown) {
    if (!AreBetween(by_busy, 1, kMostFactor)) return false;
  }
  return !times.by_batch_us.empty() && AreBetween(times.overhead_varies_us, -kMostUs, kMostUs) &&
         AreBetween(times.by_batch_us, 0, kMostUs) && is_time(times.overhead_us) &&
         is_time(times.rest_us) && is_time(times.cpu_us) && is_time(times.busy_cpu_us) &&
         times.processors >= 0;
}

double MemoryOf(const TuneState& state, const MeasuredNode& node) {
  if (const Measurement* const measured = state.Find({node.candidate}); measured != nullptr) {
    return measured->memory_mib;
  }
  for (const TuneState::Measured& measured : state.measured) {
    if (InstancesOf(measured.configuration) == node.candidate.instances) {
      return measured.measurement.memory_mib;
    }
  }
  return node.times.MemoryMib(node.candidate.instances);
}

}  // namespace

absl::StatusOr<MeasuredNode> ReadMeasuredNode(const CapacityOptions& options) {
  const auto wrong = [&options](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("--times=", options.times_file, ": ", why));
  };
  const absl::StatusOr<TuneState> state = ReadTuneState(options.times_file);
  if (!state.ok()) return wrong(state.status().message());
  if (state->ensemble.has_value()) {
    return wrong("it is of an ensemble; only models with instances can be simulated as fleets");
  }
  if (state->models.empty() || state->models[0].times.empty()) return wrong(kNoTimes);
  absl::StatusOr<CompiledModel> measured = ModelFromJson(state->models[0].config_json);
  if (!measured.ok()) return wrong(measured.status().message());
  if (measured->name != options.model) {
    return wrong(
        absl::StrCat("it is of the model '", measured->name, "', not of '", options.model, "'"));
  }
  MeasuredNode node;
  node.model = *measured;
  if (!options.config_file.empty()) {
    absl::StatusOr<CompiledModel> other = ModelFromFolder(
        options.model, std::filesystem::absolute(options.config_file).parent_path().string());
    if (!other.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--config=", options.config_file, ": ", other.status().message()));
    }
    node.model = *std::move(other);
  }
  node.candidate = CurrentOf(node.model);
  if (node.model.backend != measured->backend) node.candidate.engine.backend = node.model.backend;
  const auto times = state->models[0].times.find(node.candidate.engine);
  if (times == state->models[0].times.end()) {
    return wrong("it has no times for the backend and the threads of this configuration");
  }
  if (!ArePossible(times->second)) return wrong(kNoTimes);
  node.times = times->second;
  node.memory_mib = MemoryOf(*state, node);
  return node;
}

}  // namespace nereid
