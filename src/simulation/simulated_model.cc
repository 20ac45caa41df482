// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_model.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "infer/infer_request.h"
#include "infer/response.h"

namespace nereid {

absl::Status SimulatedModel::UseScheduler(const SchedulerMaker& make) {
  ASSIGN_OR_RETURN(scheduler_, make(config()));
  return absl::OkStatus();
}

void SimulatedModel::DropScheduler() {
  scheduler_->Shutdown();
  scheduler_->DropStrategy();
  scheduler_.reset();
}

// One request, from its making to its release.
struct RequestMaker::Flight {
  Flight(std::shared_ptr<ServingModel> model, RequestMaker* maker_in, uint32_t number_in)
      : request(std::move(model), /*requested_version=*/-1), maker(maker_in), number(number_in) {}

  InferRequest request;
  RequestMaker* const maker;
  const uint32_t number;
};

uint32_t RequestMaker::NumberOf(const InferRequest& request) {
  return static_cast<const Flight*>(request.release_target().userp)->number;
}

absl::StatusOr<std::shared_ptr<const LoadShapes>> LoadShapes::Make(
    const CompiledModel& config, const std::vector<SimulatedRequest>& load) {
  std::shared_ptr<LoadShapes> shapes(new LoadShapes(config.max_batch_size > 0));
  // Requests that are alike are measured once.
  std::set<std::pair<uint32_t, uint32_t>> seen;
  int64_t largest = 0;
  for (const SimulatedRequest& request : load) {
    if (!seen.emplace(request.shapes, request.batch_size).second) continue;
    shapes->dims_.try_emplace(request.shapes, static_cast<int64_t>(shapes->dims_.size()) + 1);
    for (const InputSpec& input : config.inputs) {
      ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(input, shapes->ShapeOf(input, request)));
      largest = std::max(largest, bytes);
    }
  }
  shapes->zeros_ = std::make_unique<MappedMemory>(static_cast<size_t>(largest));
  return std::shared_ptr<const LoadShapes>(std::move(shapes));
}

Shape LoadShapes::ShapeOf(const InputSpec& input, const SimulatedRequest& request) const {
  Shape shape;
  if (batched_) shape.push_back(request.batch_size);
  // The first variable dimension tells the keys apart.
  int64_t variable = dims_.at(request.shapes);
  for (const int64_t dim : input.dims) {
    shape.push_back(dim == kVariableDim ? std::exchange(variable, 1) : dim);
  }
  return shape;
}

absl::StatusOr<int64_t> LoadShapes::BytesOf(const InputSpec& input, const Shape& shape) {
  // An empty string is four bytes: its length.
  const std::optional<int64_t> bytes = input.data_type == DataType::kBytes
                                           ? TensorByteSize(DataType::kInt32, shape)
                                           : TensorByteSize(input.data_type, shape);
  if (bytes.has_value() && *bytes <= kMostInputBytes) return *bytes;
  return absl::InvalidArgumentError(absl::StrCat(
      "input '", input.name, "' of the largest request has too many bytes to be simulated; ",
      kMostInputBytes, " are possible"));
}

absl::Status RequestMaker::Issue(uint32_t number, const SimulatedRequest& asked, uint64_t now_ns) {
  auto flight = std::make_unique<Flight>(model_, this, number);
  InferRequest& request = flight->request;
  request.set_priority(asked.priority);
  request.set_timeout_us(asked.timeout_us);
  request.set_flags(asked.flags);
  request.set_correlation_id(asked.sequence);
  ResponseTarget responses;
  responses.fn = &RequestMaker::OnResponse;
  responses.userp = flight.get();
  responses.allocator = &allocator_;
  request.set_response_target(responses);
  ReleaseTarget releases;
  releases.fn = &RequestMaker::OnRelease;
  releases.userp = flight.get();
  request.set_release_target(releases);
  for (const InputSpec& spec : model_->config().inputs) {
    if (spec.optional) continue;
    const Shape shape = shapes_->ShapeOf(spec, asked);
    ASSIGN_OR_RETURN(InferInput* const input, request.AddInput(spec.name, spec.data_type, shape));
    ASSIGN_OR_RETURN(const int64_t bytes, LoadShapes::BytesOf(spec, shape));
    input->AppendBuffer({shapes_->zeros(), static_cast<size_t>(bytes), MemoryPlace{}});
  }
  RETURN_IF_ERROR(IssueRequest(ModelPass::Enter(model_), &request, now_ns));
  flight.release();  // OnRelease deletes it
  return absl::OkStatus();
}

void RequestMaker::OnResponse(InferResponse* response, uint32_t flags,
                              const ResponseTarget& target) {
  const std::unique_ptr<InferResponse> owned(response);
  if ((flags & kResponseCompleteFinal) == 0) return;
  const auto* const flight = static_cast<const Flight*>(target.userp);
  flight->maker->ended_(flight->number, owned == nullptr || owned->status().ok());
}

void RequestMaker::OnRelease(InferRequest*, uint32_t, const ReleaseTarget& target) {
  delete static_cast<Flight*>(target.userp);
}

}  // namespace nereid
