#include "scheduling/sequence/controls.h"

#include <cstdint>
#include <cstring>
#include <utility>

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

void SequenceControls::Attach(const Values& values, InferRequest* request) const {
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

}  // namespace nereid
