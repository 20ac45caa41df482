// SPDX-License-Identifier: Apache-2.0
#include "replay/live_replay.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "bench/row_run.h"
#include "infer/infer_request.h"
#include "simulation/simulated_config.h"

namespace nereid {
namespace {

// The moments at which a request came, and was answered.
uint64_t Arrived(const RecordedRequest& request) {
  return request.start_ns != 0 ? request.start_ns : request.queued_ns;
}

std::vector<const RecordedRequest*> ByArrival(const RecordedModel& model) {
  std::vector<const RecordedRequest*> requests;
  for (const RecordedRequest& request : model.requests) {
    if (Arrived(request) != 0) requests.push_back(&request);
  }
  absl::c_stable_sort(requests, [](const RecordedRequest* a, const RecordedRequest* b) {
    return Arrived(*a) < Arrived(*b);
  });
  return requests;
}

bench::PlannedRequest Planned(const RecordedRequest& recorded) {
  bench::PlannedRequest request;
  request.batch_size = static_cast<int64_t>(std::max<uint64_t>(1, recorded.size));
  request.parameters.priority = recorded.priority;
  request.parameters.timeout_us = recorded.timeout_us;
  request.parameters.sequence = recorded.sequence;
  request.parameters.sequence_text = recorded.sequence_text;
  request.parameters.sequence_start = (recorded.flags & kRequestFlagSequenceStart) != 0;
  request.parameters.sequence_end = (recorded.flags & kRequestFlagSequenceEnd) != 0;
  return request;
}

bench::RequestInputs InputsOf(const RecordedInputs& recorded) {
  bench::RequestInputs inputs;
  for (const RecordedTensor& tensor : recorded.tensors) {
    inputs.push_back({tensor.name, tensor.data_type, tensor.shape, tensor.bytes});
  }
  return inputs;
}

// Hands out the recorded inputs by the start of their request. Two requests may have come in the
// same nanosecond: each gets inputs of its own.
class InputsByStart {
 public:
  explicit InputsByStart(const RecordedModel& model) {
    for (const RecordedInputs& inputs : model.inputs) inputs_.emplace(inputs.start_ns, &inputs);
  }
  // Null if there are none.
  std::shared_ptr<const bench::RequestInputs> Take(uint64_t start_ns) {
    const auto found = inputs_.find(start_ns);
    if (found == inputs_.end()) return nullptr;
    auto inputs = std::make_shared<const bench::RequestInputs>(InputsOf(*found->second));
    inputs_.erase(found);
    return inputs;
  }

 private:
  std::multimap<uint64_t, const RecordedInputs*> inputs_;
};

// A decoupled model needs streams.
absl::Status ChooseStreaming(const RecordedModel& model, bench::BenchOptions* options) {
  const absl::StatusOr<CompiledModel> config = ModelFromJson(model.config);
  options->streaming = config.ok() && config->decoupled;
  if (!options->streaming || options->grpc()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the model ", model.name, " is decoupled, which needs a --url with grpc"));
}

}  // namespace

absl::StatusOr<std::vector<bench::PlannedRequest>> PlanOf(const RecordedModel& model,
                                                          double speed) {
  const std::vector<const RecordedRequest*> requests = ByArrival(model);
  if (requests.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no request of model '", model.name, "' was recorded"));
  }
  InputsByStart inputs(model);
  std::vector<bench::PlannedRequest> planned;
  for (const RecordedRequest* const request : requests) {
    planned.push_back(Planned(*request));
    planned.back().inputs = inputs.Take(request->start_ns);
    const auto after = static_cast<double>(Arrived(*request) - Arrived(*requests.front()));
    planned.back().due = std::chrono::nanoseconds(static_cast<int64_t>(after / speed));
  }
  return planned;
}

absl::StatusOr<LiveReplay> ReplayLive(
    const RecordedModel& model, bench::BenchOptions options, double speed,
    const std::function<bool()>& interrupted,
    const std::function<void(const bench::RowResult&)>& progress) {
  LiveReplay replay;
  replay.speed = speed;
  ASSIGN_OR_RETURN(const std::vector<bench::PlannedRequest> requests, PlanOf(model, speed));
  replay.requests = requests.size();
  replay.in_sequences =
      static_cast<size_t>(absl::c_count_if(requests, [](const bench::PlannedRequest& request) {
        return request.parameters.in_sequence();
      }));
  for (const RecordedRequest& request : model.requests) {
    if (request.outcome != "ok" || request.sent_ns < Arrived(request)) continue;
    replay.recorded.Add(static_cast<int64_t>(request.sent_ns - Arrived(request)));
  }
  replay.with_inputs = static_cast<size_t>(absl::c_count_if(
      requests, [](const bench::PlannedRequest& request) { return request.inputs != nullptr; }));
  if (options.model.empty()) options.model = model.name;
  RETURN_IF_ERROR(ChooseStreaming(model, &options));
  ASSIGN_OR_RETURN(const std::unique_ptr<bench::LoadPlan> plan,
                   bench::LoadPlan::MakeFor(options, requests));
  replay.now = bench::MeasureRow(*plan, bench::RowLoad(), interrupted, progress);
  return replay;
}

}  // namespace nereid
