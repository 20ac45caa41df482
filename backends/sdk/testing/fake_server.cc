// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/testing/fake_server.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>

#include "nereid/backend.h"

using nereid_backend::testing::SeenError;
using nereid_backend::testing::SeenOutput;
using nereid_backend::testing::SeenResponse;

struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};

struct TRITONSERVER_Message {
  std::string text;
};

struct TRITONBACKEND_Output {
  SeenOutput seen;
};

struct TRITONBACKEND_Response {
  TRITONBACKEND_Request* request;
  std::deque<TRITONBACKEND_Output> outputs;
};

namespace {

std::atomic<int64_t> g_live_errors = 0;
std::mutex g_batch_reports;
thread_local bool g_sends_together = false;
bool g_takes_lent = false;
std::vector<std::function<void()>> g_lent;

struct TypeRow {
  TRITONSERVER_DataType type;
  const char* name;
  uint32_t size;
};
constexpr TypeRow kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, "BOOL", 1},     {TRITONSERVER_TYPE_UINT8, "UINT8", 1},
    {TRITONSERVER_TYPE_UINT16, "UINT16", 2}, {TRITONSERVER_TYPE_UINT32, "UINT32", 4},
    {TRITONSERVER_TYPE_UINT64, "UINT64", 8}, {TRITONSERVER_TYPE_INT8, "INT8", 1},
    {TRITONSERVER_TYPE_INT16, "INT16", 2},   {TRITONSERVER_TYPE_INT32, "INT32", 4},
    {TRITONSERVER_TYPE_INT64, "INT64", 8},   {TRITONSERVER_TYPE_FP16, "FP16", 2},
    {TRITONSERVER_TYPE_FP32, "FP32", 4},     {TRITONSERVER_TYPE_FP64, "FP64", 8},
    {TRITONSERVER_TYPE_BYTES, "BYTES", 0},   {TRITONSERVER_TYPE_BF16, "BF16", 2},
};

TRITONSERVER_Error* Invalid(const std::string& message) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, message.c_str());
}

TRITONSERVER_Error* Unused(const char* function) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNSUPPORTED, function);
}

}  // namespace

namespace nereid_backend::testing {

int64_t LiveErrors() { return g_live_errors; }

void TakeLent(bool take) { g_takes_lent = take; }
void ReleaseLent() {
  for (const std::function<void()>& release : g_lent) release();
  g_lent.clear();
}

TRITONBACKEND_Input MakeInput(std::string name, TRITONSERVER_DataType type,
                              std::vector<int64_t> shape, std::string data) {
  TRITONBACKEND_Input input;
  input.name = std::move(name);
  input.type = type;
  input.shape = std::move(shape);
  input.buffers.push_back(std::move(data));
  return input;
}

}  // namespace nereid_backend::testing

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* msg) {
  ++g_live_errors;
  return new TRITONSERVER_Error{code, msg};
}
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  if (error != nullptr) --g_live_errors;
  delete error;
}
TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) { return error->code; }
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }

const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return "<invalid>";
}
TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* name) {
  for (const TypeRow& row : kTypes) {
    if (std::string(row.name) == name) return row.type;
  }
  return TRITONSERVER_TYPE_INVALID;
}
uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.size;
  }
  return 0;
}

bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel) { return true; }
TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel, const char* file, const int line,
                                            const char* msg) {
  std::cerr << file << ':' << line << ": " << msg << '\n';
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* base, size_t size) {
  *message = new TRITONSERVER_Message{std::string(base, size)};
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  delete message;
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** base, size_t* size) {
  *base = message->text.data();
  *size = message->text.size();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* type,
                                                  const int64_t** shape, uint32_t* dims_count,
                                                  uint64_t* byte_size, uint32_t* buffer_count) {
  *name = input->name.c_str();
  *type = input->type;
  *shape = input->shape.data();
  *dims_count = static_cast<uint32_t>(input->shape.size());
  *byte_size = 0;
  for (const std::string& buffer : input->buffers) *byte_size += buffer.size();
  *buffer_count = static_cast<uint32_t>(input->buffers.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, const uint32_t index,
                                              const void** buffer, uint64_t* size,
                                              TRITONSERVER_MemoryType* memory, int64_t* id) {
  *buffer = input->buffers[index].data();
  *size = input->buffers[index].size();
  *memory = input->memory;
  *id = 0;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               const uint64_t size, TRITONSERVER_MemoryType* memory,
                                               int64_t* id) {
  output->seen.data.resize(size);
  *buffer = size > 0 ? output->seen.data.data() : nullptr;
  *memory = TRITONSERVER_MEMORY_CPU;
  *id = 0;
  return nullptr;
}

TRITONSERVER_Error* NEREID_OutputLend(TRITONBACKEND_Output* output, const void* base,
                                      const uint64_t byte_size, void (*release)(void* userp),
                                      void* userp, bool* lent) {
  *lent = g_takes_lent;
  if (!g_takes_lent) return nullptr;
  output->seen.data.assign(static_cast<const char*>(base), byte_size);
  output->seen.lent = true;
  g_lent.emplace_back([release, userp] { release(userp); });
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  for (TRITONBACKEND_Input& candidate : request->inputs) {
    if (candidate.name != name) continue;
    *input = &candidate;
    return nullptr;
  }
  return Invalid(std::string("unknown request input name ") + name);
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      const uint32_t index,
                                                      TRITONBACKEND_Input** input) {
  if (index >= request->inputs.size()) return Invalid("out of bounds index");
  *input = &request->inputs[index];
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) {
  *count = static_cast<uint32_t>(request->inputs.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** name) {
  *name = request->inputs[index].name.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  *count = static_cast<uint32_t>(request->wanted_outputs.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    const uint32_t index, const char** name) {
  *name = request->wanted_outputs[index].c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* is_cancelled) {
  *is_cancelled = request->cancelled;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout) {
  *timeout = request->timeout_us;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags) {
  *flags = request->flags;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request,
                                                       uint64_t* id) {
  if (!request->correlation_name.empty()) return Invalid("it is a name");
  *id = request->correlation_id;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request,
                                                             const char** id) {
  if (request->correlation_name.empty()) return Invalid("it is a number");
  *id = request->correlation_name.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id) {
  *id = request->id.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        uint32_t* count) {
  *count = static_cast<uint32_t>(request->parameters.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** key,
                                                   TRITONSERVER_ParameterType* type,
                                                   const void** vvalue) {
  *key = request->parameters[index].first.c_str();
  *type = TRITONSERVER_PARAMETER_INT;
  *vvalue = &request->parameters[index].second;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                               TRITONSERVER_InferenceTrace** trace) {
  *trace = request->trace;
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(TRITONSERVER_InferenceTrace* trace,
                                                       const char** trace_context) {
  *trace_context = trace->context.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t) {
  request->reported_before_release = !request->statistics.empty();
  ++request->released;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  if (request->refuse_responses) return Invalid("responses are refused");
  *response = new TRITONBACKEND_Response{request, {}};
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response) {
  ++response->request->responses_deleted;
  delete response;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 const TRITONSERVER_DataType type,
                                                 const int64_t* shape, const uint32_t dims) {
  response->outputs.push_back({SeenOutput{name, type, {shape, shape + dims}, ""}});
  *output = &response->outputs.back();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               const uint32_t flags, TRITONSERVER_Error* error) {
  SeenResponse seen;
  for (TRITONBACKEND_Output& output : response->outputs) {
    seen.outputs.push_back(std::move(output.seen));
  }
  if (error != nullptr) seen.errors.push_back(SeenError{error->code, error->message});
  seen.together = g_sends_together;
  seen.final = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  response->request->responses.push_back(std::move(seen));
  delete response;
  return nullptr;
}

TRITONSERVER_Error* NEREID_ModelExecutesBriefly(TRITONBACKEND_Model* model) {
  model->executes_briefly = true;
  return nullptr;
}
TRITONSERVER_Error* NEREID_ModelInstanceOnLoan(TRITONBACKEND_ModelInstance* instance,
                                               bool* on_loan) {
  *on_loan = instance->on_loan;
  return nullptr;
}
TRITONSERVER_Error* NEREID_ModelInstanceSetAvailable(TRITONBACKEND_ModelInstance* instance,
                                                     bool available) {
  instance->available = available;
  return nullptr;
}
TRITONSERVER_Error* NEREID_ModelInstanceSetLendable(TRITONBACKEND_ModelInstance* instance,
                                                    bool lendable) {
  instance->lendable = lendable;
  return nullptr;
}
TRITONSERVER_Error* NEREID_ResponseFactoryCredit(TRITONBACKEND_ResponseFactory*, bool* has_credit) {
  *has_credit = true;
  return nullptr;
}
TRITONSERVER_Error* NEREID_ResponseFactoryOnCredit(TRITONBACKEND_ResponseFactory*,
                                                   void (*callback)(void* userp), void* userp) {
  callback(userp);
  return nullptr;
}
TRITONSERVER_Error* NEREID_SendTogether(void (*send)(void* userp), void* userp) {
  g_sends_together = true;
  send(userp);
  g_sends_together = false;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request* request, const bool success,
    const uint64_t exec_start, const uint64_t compute_start, const uint64_t compute_end,
    const uint64_t exec_end) {
  request->statistics.push_back(success);
  request->times.push_back({exec_start, compute_start, compute_end, exec_end});
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t batch_size, const uint64_t exec_start,
    const uint64_t compute_start, const uint64_t compute_end, const uint64_t exec_end) {
  const std::lock_guard lock(g_batch_reports);
  instance->batch_sizes.push_back(batch_size);
  instance->batch_times.push_back({exec_start, compute_start, compute_end, exec_end});
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                   TRITONBACKEND_ArtifactType* type,
                                                   const char** location) {
  *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = backend->folder.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend, const char** name) {
  *name = backend->name.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) {
  *state = backend->state;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) {
  *backend = model->backend;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, const uint32_t,
                                              TRITONSERVER_Message** config) {
  return TRITONSERVER_MessageNewFromSerializedJson(config, model->config.data(),
                                                   model->config.size());
}
TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  *name = model->name.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model*, uint64_t* version) {
  *version = 1;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* type,
                                                  const char** location) {
  *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = model->directory.c_str();
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model*, bool* wanted) {
  *wanted = false;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                                TRITONSERVER_Message** config) {
  // The server keeps ownership of this message; that of a model belongs to the caller.
  backend->config_message.reset(new TRITONSERVER_Message{backend->config});
  *config = backend->config_message.get();
  return nullptr;
}

// Called by parts of the SDK that need a real server and have no unit test.
TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model*, const uint32_t,
                                                 TRITONSERVER_Message*) {
  return Unused(__func__);
}

}  // extern "C"
