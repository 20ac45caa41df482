// SPDX-License-Identifier: Apache-2.0
#include "infer/request_validator.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/status_macros.h"
#include "infer/string_elements.h"

namespace nereid {
namespace {

constexpr absl::string_view kBatchNote =
    "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be "
    "prepended to each input shape. If you want to specify the full shape including the batch dim "
    "in your input dims config, try setting max_batch_size to zero. See the model configuration "
    "docs for more info on max_batch_size.";

// If a request has more inputs than its model, the error lists this many and counts the others.
constexpr size_t kListedInputs = 16;

template <typename... Parts>
absl::Status Invalid(const RequestContent& request, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(request.LogPrefix(), parts...));
}

// ['a','b']
template <typename Names>
std::string QuotedList(const Names& names) {
  return absl::StrCat("[",
                      absl::StrJoin(names, ",",
                                    [](std::string* out, absl::string_view name) {
                                      absl::StrAppend(out, "'", name, "'");
                                    }),
                      "]");
}

Shape WithBatch(bool batched, int64_t batch, absl::Span<const int64_t> dims) {
  Shape shape;
  if (batched) shape.push_back(batch);
  shape.insert(shape.end(), dims.begin(), dims.end());
  return shape;
}

// The dimensions of `spec.reshape`. Its variable ones take, in order, the values that `actual` has
// for the variable ones of `spec.dims`.
Shape ApplyReshape(const InputSpec& spec, absl::Span<const int64_t> actual) {
  Shape values;
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    if (spec.dims[i] == kVariableDim) values.push_back(actual[i]);
  }
  Shape shape;
  size_t next = 0;
  for (const int64_t dim : *spec.reshape) {
    shape.push_back(dim == kVariableDim && next < values.size() ? values[next++] : dim);
  }
  return shape;
}

absl::Status CheckStrings(const CompiledModel& model, const RequestContent& request,
                          const InferInput& input, int64_t expected) {
  const auto about = [&] {
    return absl::StrCat(" for inference input '", input.name(), "' for model '", model.name, "'");
  };
  if (input.buffers().size() > 1) {  // only GPU pieces are not joined into one
    return Invalid(request, "expected 1 buffers", about(), ", got ", input.buffers().size());
  }
  const InputBuffer buffer = input.buffers().empty() ? InputBuffer{} : input.buffers()[0];
  // Checked when it is read: InferInput::OnHost.
  if (buffer.place.type == MemoryType::kGpu) return absl::OkStatus();
  const absl::Status checked = CheckStringElements(
      {static_cast<const char*>(buffer.base), buffer.byte_size}, expected, about);
  return checked.ok() ? checked : Invalid(request, checked.message());
}

}  // namespace

absl::Status RequestValidator::Prepare(RequestContent* request) {
  const CompiledModel& model = request->model()->config();
  const bool reads_pieces = request->model()->reads_pieces() && !request->raw_input_;
  for (InferInput& input : request->inputs_) {
    input.Separate();  // what an earlier flight joined may be out of date
    if (input.on_gpu()) input.BeginReading(request->model().get());
    // BYTES tensors are always joined, so that no element is split between pieces.
    if (!reads_pieces || input.data_type() == DataType::kBytes) input.Coalesce();
  }
  if (request->raw_input_) {
    if (absl::Status s = DeduceRawInput(model, request); !s.ok()) return s;
  }
  if (absl::Status s = CheckOutputs(model, *request); !s.ok()) return s;
  if (absl::Status s = CheckInputCount(model, *request); !s.ok()) return s;
  if (absl::Status s = ResolveBatchSize(model, request); !s.ok()) return s;
  for (InferInput& input : request->inputs_) {
    if (absl::Status s = CheckInput(model, *request, &input); !s.ok()) return s;
  }
  if (absl::Status s = CheckRequiredInputs(model, *request); !s.ok()) return s;
  return CheckCorrelationId(model, *request);
}

absl::Status RequestValidator::CheckCorrelationId(const CompiledModel& model,
                                                  const RequestContent& request) {
  const CorrelationId& id = request.correlation_id();
  if (!id.present()) return absl::OkStatus();  // the scheduler decides whether it may be absent
  for (const SequenceControl& control : model.sequence.controls) {
    if (control.kind != SequenceControl::Kind::kCorrelationId) continue;
    if (id.is_string() == (control.data_type == DataType::kBytes)) continue;
    return Invalid(request, "sequence batching control '", control.input, "' data-type is '",
                   DataTypeName(id.is_string() ? DataType::kBytes : DataType::kUint64),
                   "', but model '", model.name, "' expects '", DataTypeName(control.data_type),
                   "'");
  }
  return absl::OkStatus();
}

absl::Status RequestValidator::MakeStringElement(const RequestContent& request,
                                                 const InputSpec& spec, InferInput* input) {
  if (input->on_gpu()) {
    return Invalid(request, "raw input '", spec.name,
                   "' is in memory of a GPU: a string must be in memory of the host");
  }
  if (input->policy_buffers_ != nullptr) {
    return Invalid(request,
                   "Raw input with data associated with a host policy setting is not currently "
                   "supported");
  }
  if (input->byte_size() > std::numeric_limits<uint32_t>::max()) {
    return Invalid(request, "raw input '", spec.name, "' of ", input->byte_size(),
                   " bytes is too long for one string element (at most 4294967295 bytes)");
  }
  // The body is the only element, so its length goes in front.
  const uint32_t length = static_cast<uint32_t>(input->byte_size());
  std::unique_ptr<char[]> element(new char[sizeof(length) + length]);
  std::memcpy(element.get(), &length, sizeof(length));
  if (length > 0) {
    std::memcpy(element.get() + sizeof(length), input->buffers()[0].base, length);
  }
  input->RemoveAllBuffers();
  input->AppendBuffer({element.get(), sizeof(length) + length, MemoryPlace{}});
  input->coalesced_ = std::move(element);
  return absl::OkStatus();
}

absl::Status RequestValidator::DeduceRawInput(const CompiledModel& model, RequestContent* request) {
  if (model.inputs.size() != 1 || request->inputs_.size() != 1) {
    return Invalid(*request, "Raw request must only have 1 input (found ", request->inputs_.size(),
                   ") to be deduced but got ", model.inputs.size(), " inputs in '", model.name,
                   "' model configuration");
  }
  const InputSpec& spec = model.inputs[0];
  InferInput& input = request->inputs_[0];
  const bool batched = model.max_batch_size > 0;
  Shape dims = spec.dims;
  int variable = -1;
  int64_t fixed = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != kVariableDim) {
      fixed *= dims[i];
    } else if (variable >= 0) {
      return Invalid(*request, "The shape of the raw input '", spec.name,
                     "' can not be deduced because there are more than one variable-sized "
                     "dimension");
    } else {
      variable = static_cast<int>(i);
    }
  }
  if (spec.data_type == DataType::kBytes) {
    if (variable >= 0) dims[static_cast<size_t>(variable)] = 1;
    if (dims.size() != 1 || dims[0] != 1) {
      return Invalid(*request, "For BYTE datatype raw input '", spec.name,
                     "', the model must have input shape [1]");
    }
    RETURN_IF_ERROR(MakeStringElement(*request, spec, &input));
  } else if (variable >= 0) {
    const int64_t unit = fixed * DataTypeByteSize(spec.data_type);
    dims[static_cast<size_t>(variable)] =
        unit > 0 ? static_cast<int64_t>(input.byte_size()) / unit : 0;
  }
  input.name_ = spec.name;
  input.data_type_ = spec.data_type;
  input.sent_shape_ = WithBatch(batched, 1, dims);
  request->raw_input_ = false;  // it is an ordinary input from now on
  return absl::OkStatus();
}

absl::Status RequestValidator::CheckOutputs(const CompiledModel& model,
                                            const RequestContent& request) {
  for (const std::string& output : request.asked_outputs_) {
    if (model.FindOutput(output) < 0) {
      // Without the request's id, as release 2.73.
      return absl::InvalidArgumentError(
          absl::StrCat("unexpected inference output '", output, "' for model '", model.name, "'"));
    }
  }
  return CheckRepeatedOutputs(model, request);
}

absl::Status RequestValidator::CheckRepeatedOutputs(const CompiledModel& model,
                                                    const RequestContent& request) {
  if (!request.outputs_may_repeat_) return absl::OkStatus();
  const auto begin = request.asked_outputs_.begin();
  // All names are outputs of the model, so one more than it has must include a repeated name.
  const size_t looked_at = std::min(request.asked_outputs_.size(), model.outputs.size() + 1);
  for (auto name = begin; name != begin + static_cast<std::ptrdiff_t>(looked_at); ++name) {
    if (std::find(begin, name, *name) != name) return request.RepeatedName("output", *name);
  }
  return absl::OkStatus();
}

absl::Status RequestValidator::CheckInputCount(const CompiledModel& model,
                                               const RequestContent& request) {
  const size_t given = request.inputs_.size() + request.unkept_inputs_;
  if (given <= model.inputs.size() && given >= model.required_input_count) {
    return CheckRepeatedInputs(request);
  }
  return WrongInputCount(model, request);
}

absl::Status RequestValidator::CheckRepeatedInputs(const RequestContent& request) {
  if (!request.inputs_may_repeat_) return absl::OkStatus();
  const auto& inputs = request.inputs_;
  for (size_t i = 1; i < inputs.size(); ++i) {
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (inputs[earlier].name() == inputs[i].name()) {
        return request.RepeatedName("input", inputs[i].name());
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RequestValidator::CheckRequiredInputs(const CompiledModel& model,
                                                   const RequestContent& request) {
  if (!model.has_optional_inputs) return absl::OkStatus();  // their number was checked
  size_t required = 0;
  for (const InferInput& input : request.inputs_) {
    if (!model.inputs[static_cast<size_t>(model.FindInput(input.name()))].optional) ++required;
  }
  return required == model.required_input_count ? absl::OkStatus()
                                                : WrongInputCount(model, request);
}

absl::Status RequestValidator::WrongInputCount(const CompiledModel& model,
                                               const RequestContent& request) {
  const size_t given = request.inputs_.size() + request.unkept_inputs_;
  const size_t listed = given > model.inputs.size()
                            ? std::min(request.inputs_.size(), kListedInputs)
                            : request.inputs_.size();
  std::vector<absl::string_view> got, missing;
  for (size_t i = 0; i < listed; ++i) got.push_back(request.inputs_[i].name());
  for (const InputSpec& spec : model.inputs) {
    const bool present = std::any_of(request.inputs_.begin(), request.inputs_.end(),
                                     [&](const InferInput& in) { return in.name() == spec.name; });
    if (!spec.optional && !present) missing.push_back(spec.name);
  }
  const std::string expected =
      model.has_optional_inputs
          ? absl::StrCat("expected number of inputs between ", model.required_input_count, " and ",
                         model.inputs.size())
          : absl::StrCat("expected ", model.inputs.size(), " inputs");
  const std::string more = listed < given ? absl::StrCat(" and ", given - listed, " more") : "";
  // If some inputs were only counted, it is unknown which ones are missing.
  const std::string missed =
      request.unkept_inputs_ > 0
          ? ""
          : absl::StrCat(", but missing required input(s) ", QuotedList(missing));
  return Invalid(request, expected, " but got ", given, " inputs for model '", model.name,
                 "'. Got input(s) ", QuotedList(got), more, missed,
                 ". Please provide all required input(s).");
}

absl::Status RequestValidator::ResolveBatchSize(const CompiledModel& model,
                                                RequestContent* request) {
  request->batch_size_ = 0;
  if (model.max_batch_size <= 0) return absl::OkStatus();
  int64_t batch = -1;
  for (const InferInput& input : request->inputs_) {
    const int index = model.FindInput(input.name());
    if (index >= 0 && model.inputs[static_cast<size_t>(index)].is_shape_tensor) continue;
    if (input.sent_shape_.empty()) {
      return Invalid(*request, "input '", input.name(),
                     "' has no shape but model requires batch dimension for '", model.name, "'");
    }
    if (batch < 0) batch = input.sent_shape_[0];
    if (input.sent_shape_[0] != batch) {
      return Invalid(*request, "input '", input.name(),
                     "' batch size does not match other inputs for '", model.name, "'");
    }
  }
  if (batch > model.max_batch_size) {
    return Invalid(*request, "inference request batch-size must be <= ", model.max_batch_size,
                   " for '", model.name, "'");
  }
  request->batch_size_ = static_cast<uint32_t>(std::max<int64_t>(batch, 0));
  return absl::OkStatus();
}

absl::Status RequestValidator::CheckInput(const CompiledModel& model, const RequestContent& request,
                                          InferInput* input) {
  const int index = model.FindInput(input->name());
  if (index < 0) {
    return absl::InvalidArgumentError(absl::StrCat("unexpected inference input '", input->name(),
                                                   "' for model '", model.name, "'"));
  }
  const InputSpec& spec = model.inputs[static_cast<size_t>(index)];
  if (input->data_type() != spec.data_type) {
    return Invalid(request, "inference input '", input->name(), "' data-type is '",
                   DataTypeName(input->data_type()), "', but model '", model.name, "' expects '",
                   DataTypeName(spec.data_type), "'");
  }
  const Shape& sent = input->sent_shape_;
  // A shape tensor describes the whole batch, so that it has no dimension of the batch itself.
  const bool batched = model.max_batch_size > 0 && !spec.is_shape_tensor;
  for (const int64_t dim : sent) {
    if (dim < 0) {
      return Invalid(request, "All input dimensions should be specified for input '", input->name(),
                     "' for model '", model.name, "', got ", ShapeToString(sent));
    }
  }
  const absl::Span<const int64_t> dims = absl::MakeConstSpan(sent).subspan(batched ? 1 : 0);
  if (!ShapeMatches(spec.dims, dims)) {
    return Invalid(request, "unexpected shape for input '", input->name(), "' for model '",
                   model.name, "'. Expected ",
                   ShapeToString(WithBatch(batched, kVariableDim, spec.dims)), ", got ",
                   ShapeToString(sent), ". ", model.max_batch_size > 0 ? kBatchNote : "");
  }
  input->shape_ = spec.reshape.has_value()
                      ? WithBatch(batched, sent.empty() ? 0 : sent[0], ApplyReshape(spec, dims))
                      : sent;
  // Strings have no size that follows from the shape: their lengths have to be walked through.
  if (spec.data_type == DataType::kBytes) {
    const std::optional<int64_t> elements = ElementCount(sent);
    if (!elements.has_value()) {
      return Invalid(request, "element count for tensor '", input->name(),
                     "' exceeds maximum size of 9223372036854775807");
    }
    return CheckStrings(model, request, *input, *elements);
  }
  const std::optional<int64_t> expected = TensorByteSize(spec.data_type, sent);
  if (!expected.has_value()) {
    return Invalid(request, "byte size for tensor '", input->name(),
                   "' exceeds maximum size of 9223372036854775807");
  }
  if (static_cast<uint64_t>(*expected) != input->byte_size()) {
    return Invalid(request, "input byte size mismatch for input '", input->name(), "' for model '",
                   model.name, "'. Expected ", *expected, ", got ", input->byte_size());
  }
  return absl::OkStatus();
}

}  // namespace nereid
