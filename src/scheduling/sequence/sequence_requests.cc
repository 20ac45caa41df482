// SPDX-License-Identifier: Apache-2.0
#include "scheduling/sequence/sequence_requests.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "infer/response.h"
#include "memory/output_allocator.h"

namespace nereid {
namespace {

template <typename T>
void AppendBytes(const T& value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(bytes));
}

}  // namespace

SequenceControls::SequenceControls(const CompiledModel* config)
    : options_(config->sequence), shape_(config->max_batch_size > 0 ? 2 : 1, 1) {
  for (const SequenceControl& control : options_.controls) {
    if (control.kind == SequenceControl::Kind::kCorrelationId) id_control_ = &control;
  }
  if (id_control_ == nullptr) return;
  no_id_ = EncodeId(id_control_->data_type == DataType::kBytes ? CorrelationId(std::string())
                                                               : CorrelationId());
}

std::string SequenceControls::EncodeId(const CorrelationId& id) const {
  std::string element;
  if (id_control_ == nullptr) return element;
  if (id_control_->data_type == DataType::kBytes) {
    // Clients cannot send a number as the id to such a model, but a generated id is a number.
    const std::string text = id.ToString();
    AppendBytes(static_cast<uint32_t>(text.size()), &element);
    return element + text;
  }
  const uint64_t number = id.is_string() ? 0 : id.uint_value();
  if (DataTypeByteSize(id_control_->data_type) == sizeof(uint32_t)) {
    AppendBytes(static_cast<uint32_t>(number), &element);
  } else {
    AppendBytes(number, &element);
  }
  return element;
}

void SequenceControls::Attach(const Values& values, RequestContent* request) const {
  for (const SequenceControl& control : options_.controls) {
    absl::string_view element;
    switch (control.kind) {
      case SequenceControl::Kind::kStart:
        element = values.start ? control.true_value : control.false_value;
        break;
      case SequenceControl::Kind::kEnd:
        element = values.end ? control.true_value : control.false_value;
        break;
      case SequenceControl::Kind::kReady:
        element = values.ready ? control.true_value : control.false_value;
        break;
      case SequenceControl::Kind::kCorrelationId:
        element = values.id.empty() ? absl::string_view(no_id_) : values.id;
        break;
    }
    InferInput input(control.input, control.data_type, shape_);
    input.set_shape(shape_);
    input.AppendBuffer({element.data(), element.size(), MemoryPlace{}});
    request->AddOverrideInput(std::move(input));
  }
}

namespace {

// A request with the memory that all its inputs share.
struct SyntheticRequest {
  explicit SyntheticRequest(std::shared_ptr<ServingModel> model, uint64_t bytes)
      : zeros(std::make_unique<char[]>(bytes)),
        request(std::move(model), /*requested_version=*/-1) {}

  const std::unique_ptr<char[]> zeros;
  InferRequest request;
};

void DropResponse(InferResponse* response, uint32_t, const ResponseTarget&) { delete response; }

void DeleteSynthetic(InferRequest*, uint32_t, const ReleaseTarget& target) {
  delete static_cast<SyntheticRequest*>(target.userp);
}

// The size of the input in a synthetic request, whose BYTES elements are empty strings.
uint64_t SizeOf(const InferInput& input) {
  if (input.data_type() != DataType::kBytes) return input.byte_size();
  const std::optional<int64_t> count = ElementCount(input.shape());
  return sizeof(uint32_t) * static_cast<uint64_t>(std::max<int64_t>(0, count.value_or(0)));
}

}  // namespace

InputShapes InputShapes::Of(const RequestContent& request) {
  InputShapes shape;
  for (const InferInput& input : request.inputs()) {
    shape.inputs.push_back(
        {input.name(), input.data_type(), input.sent_shape(), input.shape(), SizeOf(input)});
  }
  return shape;
}

RequestPtr MakeSyntheticRequest(ModelPass pass, const InputShapes& shape, TimePoint now) {
  // Never destroyed: a response may outlive everything else. The allocator has no state.
  static const HeapOutputAllocator* const allocator = new HeapOutputAllocator(nullptr);
  uint64_t most = 0;
  for (const InputShapes::Input& input : shape.inputs) most = std::max(most, input.byte_size);
  auto owned = std::make_unique<SyntheticRequest>(pass.model(), most);
  InferRequest& request = owned->request;
  request.set_is_synthetic();
  ReleaseTarget released;
  released.fn = &DeleteSynthetic;
  released.userp = owned.get();
  request.set_release_target(released);
  ResponseTarget responses;
  responses.fn = &DropResponse;
  responses.allocator = allocator;
  request.set_response_target(responses);
  for (const InputShapes::Input& input : shape.inputs) {
    absl::StatusOr<InferInput*> added =
        request.AddInput(input.name, input.data_type, input.sent_shape);
    if (!added.ok()) continue;  // cannot happen: the inputs of a request have different names
    (*added)->set_shape(input.shape);
    (*added)->AppendBuffer({owned->zeros.get(), input.byte_size, MemoryPlace{}});
  }
  request.BeginFlight(std::move(pass), ToNanos(now));
  request.set_queue_start_ns(ToNanos(now));
  request.lifecycle().MoveTo(RequestState::kPending, "").IgnoreError();  // cannot fail: it is new
  return RequestPtr(&owned.release()->request);
}

}  // namespace nereid
