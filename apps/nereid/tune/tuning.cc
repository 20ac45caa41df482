#include "tune/tuning.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "bench/control_call.h"
#include "bench/server_client.h"
#include "replay/recorded_load.h"
#include "simulation/simulated_config.h"

namespace nereid {
namespace {

// The completed configuration of the model that the server serves.
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

}  // namespace

// Everything on which measured values depend.
std::string Tuning::Key() const {
  const TuneLoad& load = options_.load;
  std::string key = absl::StrCat(
      options_.model, " ", model_.repository, "\n", config_, "\n", static_cast<int>(load.kind), " ",
      load.concurrency, " ", load.rate, " ", static_cast<int>(load.arrivals), " ", load.batch_size,
      " ", options_.recording, " ", options_.max_instances, " ", options_.seconds, " ",
      options_.goal.p99_us, " ", options_.goal.needs_memory(), " ",
      static_cast<int>(options_.goal.objective), " ", absl::StrJoin(options_.max_batch_sizes, ","),
      " ", absl::StrJoin(options_.server_options, " "), " ",
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
  ASSIGN_OR_RETURN(state_, LoadTuneState(options_.state_file, Key()));
  RETURN_IF_ERROR(Learn());
  TuneResult result;
  result.times = *state_.times;
  ASSIGN_OR_RETURN(result.all, JudgeAll());
  result.shown = {0};
  for (const size_t i :
       BestDiverse(result.all, options_.goal, static_cast<size_t>(options_.measure))) {
    if (i != 0) result.shown.push_back(i);
  }
  std::vector<Judged> measured;
  for (const size_t i : result.shown) {
    RETURN_IF_ERROR(Measure(&result.all[i]));
    measured.push_back(result.all[i]);
  }
  const size_t best = Best(measured, options_.goal, 1)[0];
  result.chosen = result.shown[best];
  result.keeps_goal = Keeps(measured[best], options_.goal);
  return result;
}

absl::Status Tuning::Learn() {
  if (!state_.times.has_value()) RETURN_IF_ERROR(MeasureTimes());
  ASSIGN_OR_RETURN(compiled_, ModelFromJson(state_.config_json));
  current_ = CurrentOf(compiled_);
  return absl::OkStatus();
}

absl::Status Tuning::CheckModel() const {
  const auto refuse = [this](absl::string_view what) {
    return absl::FailedPreconditionError(absl::StrCat("the model '", options_.model, "' ", what));
  };
  if (!compiled_.ensemble.steps.empty()) {
    return refuse("is an ensemble, which has no instances; tune the models of its steps");
  }
  if (compiled_.sequence.enabled) {
    return refuse("serves sequences, whose clients decide about its batches; it is not tuned");
  }
  if (compiled_.decoupled) {
    return refuse("is decoupled: its executions do not end with its answers; it is not tuned");
  }
  const int largest = std::max(compiled_.max_batch_size, 1);
  if (static_cast<int>(load_.batch_size) > largest) {
    return absl::InvalidArgumentError(absl::StrCat("--batch-size is ", load_.batch_size,
                                                   "; the model's largest batch is ", largest));
  }
  if (compiled_.max_batch_size == 0 && !options_.max_batch_sizes.empty()) {
    return absl::InvalidArgumentError(
        "--max-batch-sizes has no meaning: the model's tensors have no batch dimension");
  }
  for (const int size : options_.max_batch_sizes) {
    if (size >= static_cast<int>(load_.batch_size)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--max-batch-sizes has ", size, ", which is less than --batch-size"));
  }
  return absl::OkStatus();
}

std::vector<int> Tuning::BatchSizes() const {
  std::vector<int> sizes = {static_cast<int>(load_.batch_size)};
  int largest = std::max(compiled_.max_batch_size, 1);
  for (const int size : options_.max_batch_sizes) largest = std::max(largest, size);
  for (int size = 1; size < largest; size *= 2) {
    if (size > sizes.front()) sizes.push_back(size);
  }
  sizes.push_back(largest);
  return Ascending(std::move(sizes));
}

std::vector<int> Tuning::InstanceCounts() const {
  std::vector<int> counts = {options_.max_instances};
  for (int count = 1; count < options_.max_instances; count *= 2) counts.push_back(count);
  return Ascending(std::move(counts));
}

absl::Status Tuning::MeasureTimes() {
  hooks_.progress("starting a private server");
  const std::string path = model_.folder() + "/config.pbtxt";
  // First as it is: what the backend completes, and whether the model works at all.
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateServer> server,
                   PrivateServer::Start(model_, config_, hooks_.interrupted));
  ASSIGN_OR_RETURN(state_.config_json, ConfigOf(*server, options_.model));
  server.reset();
  ASSIGN_OR_RETURN(compiled_, ModelFromJson(state_.config_json));
  RETURN_IF_ERROR(CheckModel());
  const std::vector<int> sizes = BatchSizes();
  ConfigChanges changes;
  changes.instances = options_.max_instances;
  if (compiled_.max_batch_size > 0) changes.max_batch_size = sizes.back();
  if (compiled_.batching.enabled) {
    changes.preferred_batch_sizes.emplace();
    changes.max_queue_delay_us = 0;
  }
  ASSIGN_OR_RETURN(const std::string config, EditConfigText(path, config_, changes));
  ASSIGN_OR_RETURN(server, PrivateServer::Start(model_, config, hooks_.interrupted));
  ASSIGN_OR_RETURN(state_.times,
                   Measuring(options_, recorded_, hooks_).Times(*server, sizes, InstanceCounts()));
  if (options_.goal.needs_memory()) {
    state_.times->memory_mib[options_.max_instances] = server->MemoryMib();
    server.reset();
    if (options_.max_instances > 1) {
      ASSIGN_OR_RETURN(state_.times->memory_mib[1], MemoryOfOne());
    }
  }
  return SaveTuneState(options_.state_file, state_);
}

absl::StatusOr<double> Tuning::MemoryOfOne() {
  ConfigChanges changes;
  changes.instances = 1;
  ASSIGN_OR_RETURN(const std::string config,
                   EditConfigText(model_.folder() + "/config.pbtxt", config_, changes));
  ASSIGN_OR_RETURN(const std::unique_ptr<PrivateServer> server,
                   PrivateServer::Start(model_, config, hooks_.interrupted));
  // Executions take memory, too.
  RETURN_IF_ERROR(
      Measuring(options_, recorded_, hooks_).Times(*server, BatchSizes(), {1}).status());
  return server->MemoryMib();
}

absl::StatusOr<std::vector<Judged>> Tuning::JudgeAll() {
  SearchSpace space;
  space.max_instances = options_.max_instances;
  space.max_batch_sizes.assign(options_.max_batch_sizes.begin(), options_.max_batch_sizes.end());
  space.request_us = state_.times->BatchUs(static_cast<int>(load_.batch_size));
  std::vector<Judged> all;
  const std::vector<Candidate> candidates = CandidatesFor(current_, space);
  for (const Candidate& candidate : candidates) {
    if (hooks_.interrupted()) return absl::CancelledError("interrupted");
    hooks_.progress(absl::StrCat("simulating ", all.size() + 1, " of ", candidates.size(), ": ",
                                 NameOf(candidate)));
    Judged& judged = all.emplace_back();
    judged.candidate = candidate;
    ASSIGN_OR_RETURN(judged.predicted, Predict(With(compiled_, candidate), *state_.times, load_,
                                               options_.goal.p99_us));
    judged.predicted_memory_mib = state_.times->MemoryMib(candidate.instances);
  }
  return all;
}

absl::Status Tuning::Measure(Judged* judged) {
  if (const Measurement* const known = state_.Find(judged->candidate); known != nullptr) {
    judged->measured = *known;
    return absl::OkStatus();
  }
  const std::string name = NameOf(judged->candidate);
  hooks_.progress(name + ": starting a private server");
  ASSIGN_OR_RETURN(const std::string config,
                   EditConfigText(model_.folder() + "/config.pbtxt", config_,
                                  ChangesOf(current_, judged->candidate)));
  ASSIGN_OR_RETURN(const std::unique_ptr<PrivateServer> server,
                   PrivateServer::Start(model_, config, hooks_.interrupted));
  ASSIGN_OR_RETURN(judged->measured, Measuring(options_, recorded_, hooks_)
                                         .OfCandidate(server->target(), judged->predicted, name));
  judged->measured->memory_mib = server->MemoryMib();
  state_.measured.push_back({judged->candidate, *judged->measured});
  return SaveTuneState(options_.state_file, state_);
}

}  // namespace nereid
