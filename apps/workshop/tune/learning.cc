// SPDX-License-Identifier: Apache-2.0
#include "tune/learning.h"

#include <absl/algorithm/container.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "bench/control_call.h"
#include "bench/server_client.h"
#include "simulation/pipeline.h"

namespace nereid {
namespace {

// The completed configuration of a model that the server serves.
absl::StatusOr<std::string> ConfigOf(const PrivateServer& server, const std::string& model) {
  bench::BenchOptions options;
  options.target = server.target();
  options.model = model;
  bench::Endpoint endpoint;
  endpoint.address = server.target().Authority();
  const bench::ServerClient client(options, endpoint);
  return bench::CallHttp(endpoint, "GET", client.ModelPath() + "/config");
}

std::vector<int> Ascending(std::vector<int> numbers) {
  absl::c_sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// The first, the last and every second one between them.
std::vector<int> EverySecond(const std::vector<int>& numbers) {
  std::vector<int> some;
  for (size_t i = 0; i < numbers.size(); i += 2) some.push_back(numbers[i]);
  some.push_back(numbers.back());
  return Ascending(std::move(some));
}

}  // namespace

absl::Status Learning::ReadConfigs(bool ensemble, TuneState* state) const {
  hooks_.progress("starting a private server");
  ASSIGN_OR_RETURN(const std::unique_ptr<PrivateServer> server,
                   PrivateServer::Start(served_, today_, hooks_.interrupted));
  for (const ConfigText& config : today_) {
    ASSIGN_OR_RETURN(state->models.emplace_back().config_json, ConfigOf(*server, config.model));
  }
  if (!ensemble) return absl::OkStatus();
  ASSIGN_OR_RETURN(state->ensemble.emplace().config_json, ConfigOf(*server, served_.name));
  return absl::OkStatus();
}

std::vector<int> Learning::BatchSizes(const CompiledModel& served) const {
  std::vector<int> sizes = {static_cast<int>(options_.load.batch_size)};
  int largest = std::max(served.max_batch_size, 1);
  for (const int size : options_.max_batch_sizes) largest = std::max(largest, size);
  for (int size = 1; size < largest; size *= 2) {
    if (size > sizes.front()) sizes.push_back(size);
  }
  sizes.push_back(largest);
  return Ascending(std::move(sizes));
}

std::vector<int> Learning::InstanceCounts() const {
  std::vector<int> counts = {options_.max_instances};
  for (int count = 1; count < options_.max_instances; count *= 2) counts.push_back(count);
  return Ascending(std::move(counts));
}

absl::StatusOr<std::unique_ptr<PrivateServer>> Learning::Start(
    const std::vector<CompiledModel>& models, int32_t instances, const Engine* engine) const {
  Configuration configuration;
  for (const CompiledModel& model : models) {
    Candidate& candidate = configuration.emplace_back(CurrentOf(model));
    candidate.instances = instances;
    candidate.preferred_batch_sizes.clear();
    candidate.max_queue_delay_us = 0;
    // Requests that come at the same time stay executions of their own.
    if (instances > 1) candidate.batching = false;
    if (engine != nullptr) candidate.engine = *engine;
    for (const int size : options_.max_batch_sizes) {
      candidate.max_batch_size = std::max(candidate.max_batch_size, size);
    }
  }
  ASSIGN_OR_RETURN(const std::vector<ConfigText> configs,
                   WithConfiguration(today_, models, configuration));
  hooks_.progress("starting a private server");
  return PrivateServer::Start(served_, configs, hooks_.interrupted);
}

void Learning::AddMemory(const PrivateServer& server, size_t instances, ServiceTimes* times) const {
  if (!options_.goal.needs_memory()) return;
  times->memory_mib[static_cast<int>(instances)] = server.MemoryMib();
}

absl::StatusOr<Measuring::StepTimes> Learning::Times(const Measuring::Executions& executions,
                                                     const std::vector<CompiledModel>& models,
                                                     const Engine* engine) const {
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateServer> server, Start(models, 1, engine));
  ASSIGN_OR_RETURN(Measuring::StepTimes times, measuring_.Times(*server, executions));
  if (models.size() == 1) RETURN_IF_ERROR(measuring_.AddBusy(*server, &times.whole));
  AddMemory(*server, models.size(), &times.whole);
  if (options_.max_instances == 1) return times;
  server.reset();
  ASSIGN_OR_RETURN(server, Start(models, options_.max_instances, engine));
  RETURN_IF_ERROR(measuring_.AddSlowdowns(*server, executions, &times.models));
  AddMemory(*server, models.size() * static_cast<size_t>(options_.max_instances), &times.whole);
  return times;
}

absl::StatusOr<ServiceTimes> Learning::ModelTimes(const CompiledModel& model,
                                                  const Engine& engine) const {
  std::vector<int> sizes = BatchSizes(model);
  if (engine != EngineOf(model)) sizes = EverySecond(sizes);
  const Measuring::Executions executions = {
      {options_.model}, {PipelineStep()}, std::move(sizes), InstanceCounts()};
  ASSIGN_OR_RETURN(Measuring::StepTimes measured, Times(executions, {model}, &engine));
  ServiceTimes times = std::move(measured.whole);
  times.slowdown = std::move(measured.models[0].slowdown);
  return times;
}

absl::Status Learning::AddEnsembleTimes(const CompiledModel& ensemble,
                                        const std::vector<CompiledModel>& models,
                                        TuneState* state) const {
  const Measuring::Executions executions = {ModelsOfSteps(ensemble.ensemble),
                                            StepsOf(ensemble.ensemble), BatchSizes(ensemble),
                                            InstanceCounts()};
  ASSIGN_OR_RETURN(Measuring::StepTimes measured, Times(executions, models, nullptr));
  for (size_t i = 0; i < models.size(); ++i) {
    ServiceTimes& times = measured.models[i];
    // Requests of one size say nothing of batches. Then the longest possible time is the safe one.
    if (times.by_batch_us.size() == 1) {
      const auto [size, us] = *times.by_batch_us.begin();
      times.by_batch_us[2 * size] = 2 * us;
    }
    state->models[i].times[EngineOf(models[i])] = std::move(times);
  }
  state->ensemble->times[Engine()] = std::move(measured.whole);
  return absl::OkStatus();
}

}  // namespace nereid
