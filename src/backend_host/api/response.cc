// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Response*, ResponseFactory* and Output* functions.
#include <absl/strings/str_cat.h>

#include "backend_host/api/handles.h"
#include "base/log.h"
#include "base/wake_batch.h"
#include "c_objects/buffer_attributes.h"
#include "c_objects/error.h"
#include "nereid/backend.h"

using nereid::CaughtError;
using nereid::InferResponse;
using nereid::Parameter;
using nereid::ResponseFactory;
using nereid::ResponseOutput;
using nereid::SetIf;
using nereid::ToCError;
using nereid::Unwrap;

namespace {

TRITONSERVER_Error* AddParameter(TRITONBACKEND_Response* response, const char* name,
                                 nereid::ParameterValue value) {
  if (response == nullptr) {
    return ToCError(absl::InvalidArgumentError("response was nullptr"));
  }
  Unwrap(response)->AddParameter({name, std::move(value)});
  return nullptr;
}

void OutputProperties(const ResponseOutput& output, TRITONSERVER_DataType* datatype,
                      const int64_t** shape, uint64_t* dim_count) {
  SetIf(datatype, static_cast<TRITONSERVER_DataType>(output.data_type()));
  SetIf(shape, output.shape().data());
  SetIf(dim_count, static_cast<uint64_t>(output.shape().size()));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               const uint64_t buffer_byte_size,
                                               TRITONSERVER_MemoryType* memory_type,
                                               int64_t* memory_type_id) try {
  ResponseOutput* const out = Unwrap(output);
  const nereid::MemoryPlace wish{static_cast<nereid::MemoryType>(*memory_type), *memory_type_id};
  if (absl::Status status = out->Allocate(buffer_byte_size, wish); !status.ok()) {
    *buffer = nullptr;
    return ToCError(status);
  }
  *buffer = out->buffer().base;
  *memory_type = static_cast<TRITONSERVER_MemoryType>(out->buffer().place.type);
  *memory_type_id = out->buffer().place.id;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_OutputLend(TRITONBACKEND_Output* output, const void* base,
                                      const uint64_t byte_size, void (*release)(void* userp),
                                      void* userp, bool* lent) try {
  const absl::Status status = Unwrap(output)->Lend({base, byte_size, release, userp});
  *lent = status.ok();
  return absl::IsUnimplemented(status) ? nullptr : ToCError(status);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_OutputBufferAttributes(
    TRITONBACKEND_Output* output, TRITONSERVER_BufferAttributes** buffer_attributes) try {
  *buffer_attributes = Unwrap(output)->Attributes();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(TRITONBACKEND_ResponseFactory** factory,
                                                     TRITONBACKEND_Request* request) try {
  *factory = reinterpret_cast<TRITONBACKEND_ResponseFactory*>(
      new ResponseFactory{Unwrap(request)->stream()});
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(
    TRITONBACKEND_ResponseFactory* factory) try {
  delete Unwrap(factory);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryIsCancelled(TRITONBACKEND_ResponseFactory* factory,
                                                             bool* is_cancelled) try {
  *is_cancelled = Unwrap(factory)->stream->IsCancelled();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ResponseFactoryCredit(TRITONBACKEND_ResponseFactory* factory,
                                                 bool* has_credit) try {
  *has_credit = Unwrap(factory)->stream->HasCredit();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_ResponseFactoryOnCredit(TRITONBACKEND_ResponseFactory* factory,
                                                   void (*callback)(void* userp), void* userp) try {
  // Whoever waits now may have put off the wake-up of the thread that has to send.
  nereid::WakeBatch::Flush();
  Unwrap(factory)->stream->OnCredit([callback, userp] { callback(userp); });
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(TRITONBACKEND_ResponseFactory* factory,
                                                           const uint32_t send_flags) try {
  return ToCError(Unwrap(factory)->stream->Send(nullptr, send_flags));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) try {
  *response =
      reinterpret_cast<TRITONBACKEND_Response*>(Unwrap(request)->stream()->NewResponse().release());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNewFromFactory(
    TRITONBACKEND_Response** response, TRITONBACKEND_ResponseFactory* factory) try {
  *response =
      reinterpret_cast<TRITONBACKEND_Response*>(Unwrap(factory)->stream->NewResponse().release());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response) try {
  delete Unwrap(response);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                             const char* name,
                                                             const char* value) try {
  return AddParameter(response, name, std::string(value));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(TRITONBACKEND_Response* response,
                                                          const char* name,
                                                          const int64_t value) try {
  return AddParameter(response, name, value);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(TRITONBACKEND_Response* response,
                                                           const char* name, const bool value) try {
  return AddParameter(response, name, value);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(TRITONBACKEND_Response* response,
                                                             const char* name,
                                                             const double value) try {
  return AddParameter(response, name, value);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 const TRITONSERVER_DataType datatype,
                                                 const int64_t* shape,
                                                 const uint32_t dims_count) try {
  absl::StatusOr<ResponseOutput*> added = Unwrap(response)->AddOutput(
      name, static_cast<nereid::DataType>(datatype), absl::MakeConstSpan(shape, dims_count));
  *output = added.ok() ? reinterpret_cast<TRITONBACKEND_Output*>(*added) : nullptr;
  return ToCError(added.status());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               const uint32_t send_flags,
                                               TRITONSERVER_Error* error) try {
  std::unique_ptr<InferResponse> owned(Unwrap(response));
  // The stream has to outlive the delivery, which drops the response's own reference.
  const std::shared_ptr<nereid::ResponseStream> stream = owned->stream();
  if (error != nullptr) {
    owned->ClearOutputs();
    owned->set_status(nereid::FromCError(error));
  }
  const absl::Status sent = stream->Send(std::move(owned), send_flags);
  if (!sent.ok()) LOG_ERROR_SELDOM << stream->About() << sent.message();
  return ToCError(sent);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* NEREID_SendTogether(void (*send)(void* userp), void* userp) try {
  const nereid::WakeBatch batch;
  send(userp);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutputByName(TRITONBACKEND_Response* response,
                                                                const char* name,
                                                                TRITONSERVER_DataType* datatype,
                                                                const int64_t** shape,
                                                                uint64_t* dim_count) try {
  for (const ResponseOutput& output : Unwrap(response)->outputs()) {
    if (output.name() != name) continue;
    OutputProperties(output, datatype, shape, dim_count);
    return nullptr;
  }
  return ToCError(absl::NotFoundError(absl::StrCat("Output name ", name, "not found.")));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutput(TRITONBACKEND_Response* response,
                                                          const uint32_t index, const char** name,
                                                          TRITONSERVER_DataType* datatype,
                                                          const int64_t** shape,
                                                          uint64_t* dim_count) try {
  const auto& outputs = Unwrap(response)->outputs();
  if (index >= outputs.size()) {
    return ToCError(absl::InvalidArgumentError(absl::StrCat(
        "out of bounds index ", index, ": response has ", outputs.size(), " outputs")));
  }
  SetIf(name, outputs[index].name().c_str());
  OutputProperties(outputs[index], datatype, shape, dim_count);
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
