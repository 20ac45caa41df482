// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceResponse*: what a response callback received.
#include <absl/strings/str_cat.h>

#include "c_api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::InferResponse;
using nereid::ResponseOutput;
using nereid::ToCError;
using nereid::Unwrap;

namespace {

TRITONSERVER_Error* OutOfBounds(uint32_t index, size_t count, const char* what) {
  return ToCError(absl::InvalidArgumentError(
      absl::StrCat("out of bounds index ", index, ": response has ", count, " ", what)));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceResponseDelete(
    TRITONSERVER_InferenceResponse* inference_response) try {
  delete Unwrap(inference_response);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseError(
    TRITONSERVER_InferenceResponse* inference_response) try {
  return ToCError(Unwrap(inference_response)->status());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseModel(
    TRITONSERVER_InferenceResponse* inference_response, const char** model_name,
    int64_t* model_version) try {
  *model_name = Unwrap(inference_response)->model_name().c_str();
  *model_version = Unwrap(inference_response)->model_version();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseId(
    TRITONSERVER_InferenceResponse* inference_response, const char** request_id) try {
  *request_id = Unwrap(inference_response)->id().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameterCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count) try {
  *count = static_cast<uint32_t>(Unwrap(inference_response)->parameters().size());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameter(
    TRITONSERVER_InferenceResponse* inference_response, const uint32_t index, const char** name,
    TRITONSERVER_ParameterType* type, const void** vvalue) try {
  const auto& parameters = Unwrap(inference_response)->parameters();
  if (index >= parameters.size()) return OutOfBounds(index, parameters.size(), "parameters");
  const nereid::Parameter& parameter = parameters[index];
  *name = parameter.name.c_str();
  *type = static_cast<TRITONSERVER_ParameterType>(parameter.value.index());
  *vvalue = nereid::ParameterValuePointer(parameter.value);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count) try {
  *count = static_cast<uint32_t>(Unwrap(inference_response)->outputs().size());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutput(
    TRITONSERVER_InferenceResponse* inference_response, const uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count, const void** base,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id,
    void** userp) try {
  const auto& outputs = Unwrap(inference_response)->outputs();
  if (index >= outputs.size()) return OutOfBounds(index, outputs.size(), "outputs");
  const ResponseOutput& output = outputs[index];
  *name = output.name().c_str();
  *datatype = static_cast<TRITONSERVER_DataType>(output.data_type());
  *shape = output.shape().data();
  *dim_count = output.shape().size();
  const nereid::OutputBuffer& buffer = output.buffer();
  *base = buffer.base;
  *byte_size = buffer.byte_size;
  *memory_type = static_cast<TRITONSERVER_MemoryType>(buffer.place.type);
  *memory_type_id = buffer.place.id;
  *userp = buffer.userp;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputClassificationLabel(
    TRITONSERVER_InferenceResponse* inference_response, const uint32_t index,
    const size_t class_index, const char** label) try {
  const InferResponse& response = *Unwrap(inference_response);
  const auto& outputs = response.outputs();
  if (index >= outputs.size()) return OutOfBounds(index, outputs.size(), "outputs");
  *label = response.model()->Label(outputs[index].name(), class_index);
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
