// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/run.h"

#include <algorithm>
#include <utility>

#include "backends/openvino/tensor_io.h"
#include "backends/sdk/log.h"
#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {
namespace {

// Memory for results of `port`. Open dimensions are 0 at first; the tensor grows as needed.
ov::Tensor EmptyTensor(const ov::Output<const ov::Node>& port) {
  ov::Shape shape;
  const ov::PartialShape& declared = port.get_partial_shape();
  if (declared.rank().is_dynamic()) return ov::Tensor(port.get_element_type(), ov::Shape{0});
  for (const ov::Dimension& dim : declared) {
    shape.push_back(dim.is_static() ? static_cast<size_t>(dim.get_length()) : 0);
  }
  return ov::Tensor(port.get_element_type(), shape);
}

}  // namespace

Run::Request::Request(ov::InferRequest made)
    : request(std::move(made)),
      own_outputs(request.get_compiled_model().outputs().size()),
      lent(own_outputs.size(), false) {}

Run::Run(const OpenVinoModel& model)
    : model_(model),
      executor_(model.bound(), model.writes_in_place() ? GraphExecutor::Outputs::kInPlace
                                                       : GraphExecutor::Outputs::kInOwnMemory),
      watched_(model.environment().watch(), model.terminates_late_runs(), [this] { Cancel(); }) {
  requests_.emplace_back(model.NewInferRequest());
  for (FixedBatch& batch : model.fixed_batches()) {
    requests_.emplace_back(batch.compiled.create_infer_request()).rows = batch.rows;
  }
  current_ = &requests_[0];
}

Run::Request& Run::RequestFor(int64_t rows) {
  const auto fixed = std::find_if(requests_.begin() + 1, requests_.end(),
                                  [&](const Request& request) { return request.rows == rows; });
  return fixed == requests_.end() ? requests_[0] : *fixed;
}

// A request that has not begun, or has just ended, cannot be stopped.
void Run::Cancel() {
  const Error error = OvTry("", [&]() -> Error {
    current_->request.cancel();
    return Error();
  });
  if (!error.ok()) NB_LOG_VERBOSE("failed to stop a run: ", error.message());
}

Error Run::EndWatch(Error ran) {
  // The run may have finished anyway.
  if (!watched_.End() || ran.ok()) return ran;
  return StoppedRun(model_.config().name);
}

void Run::SetTensors() {
  current_ = &RequestFor(executor_.rows());
  auto& [rows, request, own_outputs, lent] = *current_;
  for (RunInput& input : executor_.inputs()) {
    request.set_input_tensor(model_.input_port(input.index), MakeInputTensor(&input));
  }
  std::vector<const RunOutput*> places(own_outputs.size(), nullptr);
  for (const RunOutput& output : executor_.outputs()) {
    if (output.place != nullptr) places[model_.output_port(output.index)] = &output;
  }
  for (size_t port = 0; port < places.size(); ++port) {
    if (places[port] != nullptr) {
      request.set_output_tensor(port, MakePlaceTensor(*places[port]));
      lent[port] = true;
    } else if (lent[port]) {
      if (!own_outputs[port]) {
        own_outputs[port] = EmptyTensor(request.get_compiled_model().outputs()[port]);
      }
      request.set_output_tensor(port, own_outputs[port]);
      lent[port] = false;
    }
  }
}

bool Run::TakeOutputs() {
  for (RunOutput& output : executor_.outputs()) {
    const ov::Tensor tensor = current_->request.get_output_tensor(model_.output_port(output.index));
    if (output.place == nullptr) {
      TakeOutputTensor(tensor, &output);
    } else if (FromOvShape(tensor.get_shape()) == output.shape) {
      output.data = output.place;
    } else {
      return false;
    }
  }
  return true;
}

bool Run::Replan() {
  if (!executor_.Replan()) return false;
  model_.bound().set_shape_trust(BoundModel::ShapeTrust::kUnknown);
  return true;
}

}  // namespace nereid_backend
