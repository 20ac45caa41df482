// SPDX-License-Identifier: Apache-2.0
#include "backends/python/request_message.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "backends/python/ipc/protocol.h"
#include "backends/python/parameters.h"
#include "backends/sdk/json.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

using nereid_python::RequestField;
using nereid_python::Tensor;
using nereid_python::ValueWriter;

// Writes the fields of a request, each at its place.
class FieldWriter {
 public:
  FieldWriter() { values_.List(nereid_python::kRequestFields); }

  // Where the value of `field` is to be written: exactly one. Throws std::logic_error if it is not
  // this field's turn.
  ValueWriter& At(RequestField field) {
    if (static_cast<uint32_t>(field) != next_++) {
      throw std::logic_error("a field of a request is written out of order");
    }
    return values_;
  }
  const ValueWriter& values() const { return values_; }

 private:
  ValueWriter values_;
  uint32_t next_ = 0;
};

uint64_t AlignUp(uint64_t size) {
  return (size + nereid_python::kBlockAlignment - 1) / nereid_python::kBlockAlignment *
         nereid_python::kBlockAlignment;
}

Result<std::vector<InputView>> InputsOf(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInputCount(request, &count));
  std::vector<InputView> inputs;
  inputs.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    NB_ASSIGN_OR_RETURN(InputView input, InputView::At(request, i));
    inputs.push_back(input);
  }
  return inputs;
}

// Copies an input to `to`.
Error CopyInput(const InputView& input, char* to) {
  std::vector<Piece> pieces;
  NB_RETURN_IF_ERROR(AppendPieces(input, &pieces));
  if (TotalSize(pieces) != input.byte_size) {
    return Error::Internal(StrCat("input '", input.name, "' has ", TotalSize(pieces),
                                  " bytes, announced were ", input.byte_size));
  }
  if (input.byte_size > 0) CopyPieces(pieces, to);
  if (input.type != TRITONSERVER_TYPE_BYTES) return Error();
  const int64_t count = ElementCount(input.dims, input.dim_count);
  return CheckStrings(input.name, {to, input.byte_size},
                      count < 0 ? 0 : static_cast<uint64_t>(count));
}

// The tensors without their elements, unless these are in files of clients.
std::vector<Tensor> DescribeInputs(const std::vector<InputView>& inputs, ClientFiles* files) {
  std::vector<Tensor> tensors;
  for (const InputView& input : inputs) {
    Tensor tensor;
    tensor.name = input.name;
    tensor.type = static_cast<uint8_t>(input.type);
    tensor.dims.assign(input.dims, input.dims + input.dim_count);
    tensor.size = input.byte_size;
    files->PassInput(input, &tensor);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The tensors of all inputs; what is copied is in one block.
Error WriteInputs(const std::vector<InputView>& inputs, Transport* transport, ClientFiles* files,
                  ValueWriter* writer, std::vector<uint64_t>* blocks) {
  std::vector<Tensor> tensors = DescribeInputs(inputs, files);
  const auto is_copied = [](const Tensor& tensor) { return tensor.file == Tensor::kIn; };
  uint64_t total = 0;
  for (const Tensor& tensor : tensors) total += is_copied(tensor) ? AlignUp(tensor.size) : 0;
  Transport::Block block;
  if (total > 0) {
    NB_ASSIGN_OR_RETURN(block, transport->Allocate(total));
  }
  uint64_t at = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor& tensor = tensors[i];
    if (!is_copied(tensor)) continue;
    if (Error copied = CopyInput(inputs[i], block.data + at); !copied.ok()) {
      if (total > 0) transport->Free(block.offset);
      return copied;
    }
    if (tensor.size == 0) continue;
    tensor.block = block.offset;
    tensor.offset = block.offset + at;
    at += AlignUp(tensor.size);
  }
  writer->List(tensors.size());
  for (const Tensor& tensor : tensors) writer->Put(tensor);
  if (total > 0) blocks->push_back(block.offset);
  return Error();
}

// A JSON object; empty if there are no parameters.
Result<std::string> ParametersOf(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestParameterCount(request, &count));
  if (count == 0) return std::string();
  Json parameters = Json::MakeObject();
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value));
    NB_RETURN_IF_ERROR(AddParameter(key, type, value, &parameters));
  }
  return parameters.Write();
}

Error WriteCorrelation(TRITONBACKEND_Request* request, ValueWriter* writer) {
  uint64_t number = 0;
  const Error is_text(TRITONBACKEND_RequestCorrelationId(request, &number));
  if (is_text.ok()) {
    writer->Uint(number);
    return Error();
  }
  const char* text = "";
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestCorrelationIdString(request, &text));
  writer->Text(text);
  return Error();
}

Error WriteOutputNames(TRITONBACKEND_Request* request, ValueWriter* writer) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestOutputCount(request, &count));
  writer->List(count);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_RequestOutputName(request, i, &name));
    writer->Text(name);
  }
  return Error();
}

// The number of the request stands for its trace: the process may give it back when it sends
// requests itself. Then the context of the trace.
Error WriteTrace(TRITONBACKEND_Request* request, uint64_t number, FieldWriter* fields) {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestTrace(request, &trace));
  const char* context = "";
  if (trace != nullptr) {
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceTraceContext(trace, &context));
  }
  fields->At(RequestField::kTrace).Uint(trace == nullptr ? 0 : number);
  ValueWriter& of_context = fields->At(RequestField::kTraceContext);
  if (*context == '\0') {
    of_context.None();
  } else {
    of_context.Text(context);
  }
  return Error();
}

}  // namespace

Error CheckStrings(std::string_view input, std::string_view bytes, uint64_t count) {
  uint64_t found = 0;
  while (!bytes.empty()) {
    uint32_t length = 0;
    if (found == count || bytes.size() < sizeof(length)) {
      return Error::InvalidArg(StrCat("unexpected number of string elements ", found + 1,
                                      " for inference input '", input, "', expecting ", count));
    }
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (length > bytes.size()) {
      return Error::InvalidArg(StrCat("incomplete string data for inference input '", input,
                                      "', expecting string of length ", length, " but only ",
                                      bytes.size(), " bytes available"));
    }
    bytes.remove_prefix(length);
    ++found;
  }
  if (found == count) return Error();
  return Error::InvalidArg(StrCat("unexpected number of string elements ", found,
                                  " for inference input '", input, "', expecting ", count));
}

Result<WrittenRequest> WriteRequest(TRITONBACKEND_Request* request, uint64_t number,
                                    const RequestMemory& memory, ValueWriter* message) {
  const char* id = "";
  uint32_t flags = 0;
  uint64_t timeout = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestId(request, &id));
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestFlags(request, &flags));
  NB_RETURN_IF_ERROR(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &timeout));
  NB_ASSIGN_OR_RETURN(const std::string parameters, ParametersOf(request));
  NB_ASSIGN_OR_RETURN(const std::vector<InputView> inputs, InputsOf(request));
  FieldWriter fields;
  fields.At(RequestField::kHandle).Uint(number);
  fields.At(RequestField::kRequestId).Text(id);
  NB_RETURN_IF_ERROR(WriteCorrelation(request, &fields.At(RequestField::kCorrelationId)));
  fields.At(RequestField::kFlags).Uint(flags);
  fields.At(RequestField::kTimeout).Uint(timeout);
  fields.At(RequestField::kParameters).Text(parameters);
  NB_RETURN_IF_ERROR(WriteOutputNames(request, &fields.At(RequestField::kRequested)));
  NB_RETURN_IF_ERROR(WriteInputs(inputs, memory.transport, memory.files,
                                 &fields.At(RequestField::kInputs), memory.blocks));
  NB_RETURN_IF_ERROR(WriteTrace(request, number, &fields));
  fields.At(RequestField::kPriority).Uint(0);  // backends are not told
  WrittenRequest written;
  written.places = memory.files->PassOutputs(request, &fields.At(RequestField::kPlaces));
  written.has_large_inputs = std::any_of(inputs.begin(), inputs.end(), [](const InputView& input) {
    return input.byte_size >= nereid_python::kLeastLent;
  });
  message->Append(fields.values());
  return written;
}

uint64_t FingerprintOf(TRITONBACKEND_Request* request) {
  uint64_t sum = 1;
  const Result<std::vector<InputView>> inputs = InputsOf(request);
  if (!inputs.ok()) return sum;
  std::vector<Piece> pieces;
  for (const InputView& input : *inputs) {
    pieces.clear();
    if (!AppendPieces(input, &pieces).ok()) continue;
    // The hashes are added, because the order of the inputs varies between equal requests.
    std::string joined(input.name);
    for (const Piece& piece : pieces) joined.append(piece.data, piece.size);
    sum += std::hash<std::string>()(joined);
  }
  return sum == 0 ? 1 : sum;
}

}  // namespace nereid_backend
