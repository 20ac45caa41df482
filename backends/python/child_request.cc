// SPDX-License-Identifier: Apache-2.0
#include "backends/python/child_request.h"

#include <cstring>

#include "backends/python/answers.h"
#include "backends/python/parameters.h"
#include "backends/sdk/json.h"
#include "backends/sdk/log.h"
#include "backends/sdk/server_function.h"
#include "nereid/server.h"

namespace nereid_backend {
namespace {

using nereid_python::Tag;
using nereid_python::Tensor;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

// An output's buffer, a separate block, until its response is deleted.
struct OutputBuffer {
  Transport* transport = nullptr;
  uint64_t block = 0;
  bool handed_over = false;  // to the process
};

TRITONSERVER_Error* AllocateOutputBuffer(TRITONSERVER_ResponseAllocator*, const char*,
                                         size_t byte_size, TRITONSERVER_MemoryType, int64_t,
                                         void* userp, void** buffer, void** buffer_userp,
                                         TRITONSERVER_MemoryType* memory_type,
                                         int64_t* memory_type_id) {
  *buffer = nullptr;
  *buffer_userp = nullptr;
  *memory_type = TRITONSERVER_MEMORY_CPU;
  *memory_type_id = 0;
  if (byte_size == 0) return nullptr;
  auto* const transport = static_cast<Transport*>(userp);
  Result<Transport::Block> block = transport->Allocate(byte_size);
  if (!block.ok()) return block.error().release();
  *buffer = block->data;
  *buffer_userp = new OutputBuffer{transport, block->offset, false};
  return nullptr;
}

TRITONSERVER_Error* ReleaseOutputBuffer(TRITONSERVER_ResponseAllocator*, void*, void* buffer_userp,
                                        size_t, TRITONSERVER_MemoryType, int64_t) {
  const std::unique_ptr<OutputBuffer> buffer(static_cast<OutputBuffer*>(buffer_userp));
  if (buffer != nullptr && !buffer->handed_over) buffer->transport->Free(buffer->block);
  return nullptr;
}

// While the model waits in execute, its process says nothing else, so this thread may be lent to a
// short model. Requests that the model does not wait for may run side by side.
decltype(&TRITONSERVER_ServerInferAsync) IssueFor(const ChildRequest::Spec& spec) {
  static const auto lending =
      ServerFunction<decltype(NEREID_ServerInferInline)>("NEREID_ServerInferInline");
  const bool lends = lending != nullptr && spec.blocks_execute && spec.waits;
  return lends ? lending : &TRITONSERVER_ServerInferAsync;
}

constexpr ParameterSetters<TRITONSERVER_InferenceRequest> kSetters = {
    &TRITONSERVER_InferenceRequestSetStringParameter, &TRITONSERVER_InferenceRequestSetIntParameter,
    &TRITONSERVER_InferenceRequestSetBoolParameter,
    &TRITONSERVER_InferenceRequestSetDoubleParameter};

// JSON; empty if the response has no parameters.
Result<std::string> ParametersOf(TRITONSERVER_InferenceResponse* response) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONSERVER_InferenceResponseParameterCount(response, &count));
  if (count == 0) return std::string();
  Json parameters = Json::MakeObject();
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceResponseParameter(response, i, &name, &type, &value));
    NB_RETURN_IF_ERROR(AddParameter(name, type, value, &parameters));
  }
  return parameters.Write();
}

}  // namespace

ChildRequest::Spec ChildRequest::Spec::Read(ValueReader* reader) {
  Spec spec;
  spec.model = reader->Text();
  spec.version = reader->Int();
  spec.id = reader->Text();
  if (reader->Peek() == Tag::kText) {
    spec.correlation_text = reader->Text();
  } else {
    spec.correlation = reader->Uint();
  }
  spec.flags = static_cast<uint32_t>(reader->Uint());
  spec.timeout_us = reader->Uint();
  spec.priority = reader->Uint();
  spec.parameters = reader->Text();
  const size_t outputs = reader->List();
  for (size_t i = 0; i < outputs && reader->ok(); ++i) spec.outputs.push_back(reader->Text());
  const size_t inputs = reader->List();
  for (size_t i = 0; i < inputs && reader->ok(); ++i) spec.inputs.push_back(reader->ReadTensor());
  spec.trace = reader->Uint();
  spec.decoupled = reader->Bool();
  spec.blocks_execute = reader->Bool();
  spec.waits = reader->Bool();
  return spec;
}

Error ChildRequest::NewAllocator(TRITONSERVER_ResponseAllocator** allocator) {
  return Error(TRITONSERVER_ResponseAllocatorNew(allocator, &AllocateOutputBuffer,
                                                 &ReleaseOutputBuffer, nullptr));
}

ChildRequest::~ChildRequest() {
  for (const Response& response : responses_) Free(response);
}

void ChildRequest::Free(const Response& response) {
  for (const uint64_t block : response.blocks) transport_->Free(block);
}

Error ChildRequest::Send(const Spec& spec, TRITONSERVER_Server* server,
                         TRITONSERVER_ResponseAllocator* allocator,
                         TRITONSERVER_InferenceTrace* trace) {
  Error error = Build(spec, server);
  if (error.ok()) {
    return Error(Issue(IssueFor(spec), server, trace, {allocator, transport_.get()}));
  }
  if (trace != nullptr) {
    NB_LOG_IF_ERROR(TRITONSERVER_InferenceTraceDelete(trace), "failed to delete a trace");
  }
  return error;
}

Error ChildRequest::Build(const Spec& spec, TRITONSERVER_Server* server) {
  NB_RETURN_IF_ERROR(
      TRITONSERVER_InferenceRequestNew(draft(), server, spec.model.c_str(), spec.version));
  TRITONSERVER_InferenceRequest* const request = *draft();
  NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetId(request, spec.id.c_str()));
  if (spec.correlation_text.empty()) {
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetCorrelationId(request, spec.correlation));
  } else {
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetCorrelationIdString(
        request, spec.correlation_text.c_str()));
  }
  NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetFlags(request, spec.flags));
  NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, spec.timeout_us));
  NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestSetPriorityUInt64(request, spec.priority));
  NB_RETURN_IF_ERROR(SetParameters(spec.parameters, kSetters, request));
  NB_RETURN_IF_ERROR(AddInputs(spec));
  for (const std::string& output : spec.outputs) {
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestAddRequestedOutput(request, output.c_str()));
  }
  return Error();
}

// The inputs are not copied, because the process keeps their bytes until its call is answered.
Error ChildRequest::AddInputs(const Spec& spec) {
  uint64_t total = 0;
  std::vector<std::string_view> data;
  for (const Tensor& input : spec.inputs) {
    NB_ASSIGN_OR_RETURN(const std::string_view bytes, transport_->BytesOf(input));
    data.push_back(bytes);
    total += bytes.size();
  }
  if (decoupled_) input_copy_.reserve(total);
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Tensor& input = spec.inputs[i];
    std::string_view bytes = data[i];
    if (decoupled_) {
      const size_t at = input_copy_.size();
      input_copy_.append(bytes);
      bytes = {input_copy_.data() + at, bytes.size()};
    }
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestAddInput(
        *draft(), input.name.c_str(), static_cast<TRITONSERVER_DataType>(input.type),
        input.dims.data(), input.dims.size()));
    NB_RETURN_IF_ERROR(TRITONSERVER_InferenceRequestAppendInputData(
        *draft(), input.name.c_str(), bytes.data(), bytes.size(), TRITONSERVER_MEMORY_CPU, 0));
  }
  return Error();
}

void ChildRequest::OnResponse(TRITONSERVER_InferenceResponse* response, bool final) {
  if (response != nullptr || final) {
    Add(response != nullptr ? Take(response) : NoOutputs(), final);
  }
  if (response != nullptr) {
    NB_LOG_IF_ERROR(TRITONSERVER_InferenceResponseDelete(response), "failed to delete a response");
  }
  if (decoupled_) AnswerNext();
}

void ChildRequest::OnReleased(TRITONSERVER_InferenceRequest* request) {
  if (input_copy_.empty()) return;
  NB_LOG_IF_ERROR(TRITONSERVER_InferenceRequestRemoveAllInputs(request),
                  "failed to drop the inputs of a request");
  input_copy_ = std::string();
}

// The process keeps the inputs of a call until it is answered, so that waits for the release.
void ChildRequest::OnEnded() {
  const std::shared_ptr<ChildRequest> self = shared_from_this();
  if (!decoupled_) {
    std::optional<Response> answer;
    {
      const std::lock_guard lock(mu_);
      answer = TakeFirst();
    }
    Answer(slot_, answer, true);
  }
  over_();
}

// As a value: (error, outputs, parameters).
ChildRequest::Response ChildRequest::Take(TRITONSERVER_InferenceResponse* response) {
  Response taken;
  ValueWriter writer;
  writer.List(3);
  Error error;
  ValueWriter outputs;
  if (TRITONSERVER_Error* const failure = TRITONSERVER_InferenceResponseError(response)) {
    error = Error(TRITONSERVER_ErrorCode(failure), TRITONSERVER_ErrorMessage(failure));
  }
  uint32_t count = 0;
  if (error.ok()) error = Error(TRITONSERVER_InferenceResponseOutputCount(response, &count));
  for (uint32_t i = 0; i < count && error.ok(); ++i) {
    const char* name = nullptr;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    const int64_t* dims = nullptr;
    uint64_t dim_count = 0;
    const void* base = nullptr;
    size_t size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    void* buffer_userp = nullptr;
    error = Error(TRITONSERVER_InferenceResponseOutput(response, i, &name, &type, &dims, &dim_count,
                                                       &base, &size, &memory_type, &memory_type_id,
                                                       &buffer_userp));
    if (!error.ok()) break;
    Tensor tensor;
    tensor.name = name;
    tensor.type = static_cast<uint8_t>(type);
    tensor.dims.assign(dims, dims + dim_count);
    if (auto* const buffer = static_cast<OutputBuffer*>(buffer_userp); size > 0 && buffer) {
      buffer->handed_over = true;
      taken.blocks.push_back(buffer->block);
      tensor.block = tensor.offset = buffer->block;
      tensor.size = size;
    }
    outputs.Put(tensor);
  }
  Result<std::string> parameters = ParametersOf(response);
  if (error.ok() && !parameters.ok()) error = std::move(parameters.error());
  if (error.ok()) {
    writer.None();
    writer.List(count);
    writer.Append(outputs);
  } else {
    Free(taken);
    taken.blocks.clear();
    writer.List(2);
    writer.Int(error.code());
    writer.Text(error.message());
    writer.List(0);
  }
  writer.Text(parameters.ok() ? *parameters : std::string());
  taken.value = writer.bytes();
  return taken;
}

// The message to the process for a final flag without a response.
ChildRequest::Response ChildRequest::NoOutputs() {
  ValueWriter writer;
  writer.List(3);
  writer.None();
  writer.List(0);
  writer.Text("");
  return {writer.bytes(), {}};
}

void ChildRequest::Add(Response response, bool final) {
  const std::lock_guard lock(mu_);
  final_ = final_ || final;
  if (closed_) {
    Free(response);
  } else if (decoupled_ || responses_.empty()) {
    responses_.push_back(std::move(response));
  }
}

std::optional<ChildRequest::Response> ChildRequest::TakeFirst() {
  if (responses_.empty()) return std::nullopt;
  std::optional<Response> first = std::move(responses_.front());
  responses_.pop_front();
  return first;
}

void ChildRequest::AnswerNext() {
  std::optional<Response> response;
  uint32_t slot = 0;
  bool last = false;
  {
    const std::lock_guard lock(mu_);
    if (!waiting_.has_value() || (responses_.empty() && !final_)) return;
    slot = *std::exchange(waiting_, std::nullopt);
    response = TakeFirst();
    last = final_ && responses_.empty();
  }
  Answer(slot, response, last);
}

void ChildRequest::Answer(uint32_t slot, const std::optional<Response>& response, bool last) {
  ValueWriter writer;
  BeginAnswer(&writer);
  if (decoupled_) writer.List(2);
  if (response.has_value()) {
    writer.AppendBytes(response->value);
  } else {
    writer.None();
  }
  if (decoupled_) writer.Bool(last);
  transport_->Answer(slot, writer);
}

void ChildRequest::Next(uint32_t slot) {
  {
    const std::lock_guard lock(mu_);
    waiting_ = slot;
  }
  AnswerNext();
}

void ChildRequest::Close() {
  std::deque<Response> left;
  {
    const std::lock_guard lock(mu_);
    closed_ = true;
    left.swap(responses_);
  }
  for (const Response& response : left) Free(response);
}

}  // namespace nereid_backend
