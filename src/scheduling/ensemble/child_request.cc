#include "scheduling/ensemble/child_request.h"

#include <string>
#include <utility>
#include <variant>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr char kId[] = "sequence_id";
constexpr char kStart[] = "sequence_start";
constexpr char kEnd[] = "sequence_end";

void SetFlag(uint32_t flag, const std::optional<bool>& set, uint32_t* flags) {
  if (set.has_value()) *flags = *set ? *flags | flag : *flags & ~flag;
}

void Apply(const SequenceOverride& sequence, InferRequest* child) {
  if (sequence.id.has_value()) child->set_correlation_id(*sequence.id);
  uint32_t flags = child->flags();
  SetFlag(kRequestFlagSequenceStart, sequence.start, &flags);
  SetFlag(kRequestFlagSequenceEnd, sequence.end, &flags);
  child->set_flags(flags);
}

absl::Status ReadFlag(const char* type_error, const Parameter& parameter,
                      std::optional<bool>* flag) {
  const bool* const value = std::get_if<bool>(&parameter.value);
  if (value == nullptr) return absl::InvalidArgumentError(type_error);
  *flag = *value;
  return absl::OkStatus();
}

absl::Status ReadParameter(const Parameter& parameter, SequenceOverride* sequence) {
  if (parameter.name == kStart) {
    return ReadFlag("expect parameter 'sequence_start' to be TRITONSERVER_PARAMETER_BOOL",
                    parameter, &sequence->start);
  }
  if (parameter.name == kEnd) {
    return ReadFlag("expect parameter 'sequence_end' to be TRITONSERVER_PARAMETER_BOOL", parameter,
                    &sequence->end);
  }
  if (const auto* number = std::get_if<int64_t>(&parameter.value)) {
    sequence->id = CorrelationId(static_cast<uint64_t>(*number));
  } else if (const auto* text = std::get_if<std::string>(&parameter.value)) {
    sequence->id = CorrelationId(*text);
  } else {
    return absl::InvalidArgumentError(
        "expected parameter 'sequence_id' to be TRITONSERVER_PARAMETER_INT or "
        "TRITONSERVER_PARAMETER_STRING");
  }
  return absl::OkStatus();
}

}  // namespace

Shape BridgeShape(absl::Span<const int64_t> shape, bool batched, size_t rank) {
  const size_t wanted = rank + (batched ? 1 : 0);
  Shape bridged;
  if (batched && shape.size() + 1 == wanted) bridged.push_back(1);
  const bool drop = !batched && shape.size() == wanted + 1 && shape[0] == 1;
  bridged.insert(bridged.end(), shape.begin() + (drop ? 1 : 0), shape.end());
  return bridged;
}

void CopyHeader(const InferRequest& parent, InferRequest* child) {
  child->set_id(parent.id());
  child->set_flags(parent.flags());
  child->set_correlation_id(parent.correlation_id());
  child->set_priority(parent.asked_priority());
  child->set_timeout_us(parent.timeout_us());
  for (const Parameter& parameter : parent.parameters()) child->AddParameter(parameter);
}

absl::Status AddChildInput(const std::string& name, const TensorValue& value, InferRequest* child) {
  if (value.absent) return absl::OkStatus();
  const CompiledModel& model = child->model()->config();
  const int index = model.FindInput(name);
  Shape shape = value.shape;
  // If the model has no such input (any more), the check of the request reports that.
  if (index >= 0) {
    const InputSpec& spec = model.inputs[static_cast<size_t>(index)];
    shape = BridgeShape(shape, model.max_batch_size > 0 && !spec.is_shape_tensor, spec.dims.size());
  }
  ASSIGN_OR_RETURN(InferInput* const input, child->AddInput(name, value.data_type, shape));
  if (value.input != nullptr) {
    for (const InputBuffer& buffer : value.input->buffers()) input->AppendBuffer(buffer);
  } else {
    const OutputBuffer& buffer = value.bytes.buffer();
    input->AppendBuffer({buffer.base, buffer.byte_size, buffer.place});
  }
  if (value.sequence != nullptr) Apply(*value.sequence, child);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const SequenceOverride>> ReadSequenceOverride(
    const InferResponse& response) {
  std::shared_ptr<SequenceOverride> sequence;
  for (const Parameter& parameter : response.parameters()) {
    if (parameter.name != kId && parameter.name != kStart && parameter.name != kEnd) continue;
    if (sequence == nullptr) sequence = std::make_shared<SequenceOverride>();
    RETURN_IF_ERROR(ReadParameter(parameter, sequence.get()));
  }
  return std::shared_ptr<const SequenceOverride>(std::move(sequence));
}

void AddSequenceParameters(const SequenceOverride& sequence, InferResponse* response) {
  if (sequence.id.has_value()) {
    if (sequence.id->is_string()) {
      response->AddParameter({kId, sequence.id->string_value()});
    } else {
      response->AddParameter({kId, static_cast<int64_t>(sequence.id->uint_value())});
    }
  }
  if (sequence.start.has_value()) response->AddParameter({kStart, *sequence.start});
  if (sequence.end.has_value()) response->AddParameter({kEnd, *sequence.end});
}

}  // namespace nereid
