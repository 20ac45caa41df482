// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_InferenceRequest*: building a request, and the callbacks that return it.
#include <absl/strings/str_cat.h>

#include <limits>
#include <type_traits>

#include "base/status_macros.h"
#include "c_api/allocator.h"
#include "c_api/callbacks.h"
#include "c_api/handles.h"
#include "c_objects/buffer_attributes.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::CorrelationId;
using nereid::InferInput;
using nereid::InferRequest;
using nereid::MemoryPlace;
using nereid::ReleaseTarget;
using nereid::ResponseTarget;
using nereid::ServingModel;
using nereid::Text;
using nereid::ToCError;
using nereid::Unwrap;
using nereid::Wrap;

namespace {

// The core keeps an application's callbacks as plain function pointers; these two call them.
void CallRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  const auto fn = reinterpret_cast<TRITONSERVER_InferenceRequestReleaseFn_t>(target.foreign_fn);
  nereid::Notify("request release", [&] { fn(Wrap(request), flags, target.userp); });
}

void CallResponse(nereid::InferResponse* response, uint32_t flags, const ResponseTarget& target) {
  const auto fn = reinterpret_cast<TRITONSERVER_InferenceResponseCompleteFn_t>(target.foreign_fn);
  nereid::Notify("response", [&] { fn(Wrap(response), flags, target.userp); });
}

// Changes a request by `change`, which takes an InferRequest* and returns a status or nothing. All
// functions that change a request go through here, because while the request is in flight the
// server and the backend read it: then it is left alone.
template <typename F>
TRITONSERVER_Error* Change(TRITONSERVER_InferenceRequest* handle, const F& change) {
  InferRequest* const request = Unwrap(handle);
  if (request->in_flight()) {
    return ToCError(absl::InvalidArgumentError(
        absl::StrCat(request->LogPrefix(),
                     "the request is in flight: it may be changed only after its release callback "
                     "was called")));
  }
  if constexpr (std::is_void_v<std::invoke_result_t<F, InferRequest*>>) {
    change(request);
    return nullptr;
  } else {
    return ToCError(change(request));
  }
}

absl::StatusOr<InferInput*> FindInput(InferRequest* request, const char* name) {
  if (InferInput* input = request->FindInput(Text(name))) return input;
  return absl::InvalidArgumentError(
      absl::StrCat(request->LogPrefix(), "input '", Text(name), "' does not exist in request"));
}

// Appends to the buffers for instances with `host_policy`, or, if that is null, for all instances.
// `ipc_handle` may be null.
absl::Status AppendData(InferRequest* request, const char* name, const void* base, size_t byte_size,
                        TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
                        const char* host_policy,
                        const nereid::CudaIpcHandle* ipc_handle = nullptr) {
  ASSIGN_OR_RETURN(InferInput* const input, FindInput(request, name));
  const bool on_used_gpu = memory_type == TRITONSERVER_MEMORY_GPU &&
                           request->model()->devices().Get(memory_type_id) != nullptr;
  if (memory_type != TRITONSERVER_MEMORY_CPU && memory_type != TRITONSERVER_MEMORY_CPU_PINNED &&
      !on_used_gpu) {
    return absl::UnimplementedError(
        absl::StrCat(request->LogPrefix(), "data of input '", Text(name), "' is in ",
                     TRITONSERVER_MemoryTypeString(memory_type),
                     " memory, which this server cannot read; give it in CPU memory"));
  }
  nereid::InputBuffer buffer{
      base, byte_size, MemoryPlace{static_cast<nereid::MemoryType>(memory_type), memory_type_id}};
  if (ipc_handle != nullptr) buffer.ipc_handle = input->KeepHandle(*ipc_handle);
  if (host_policy == nullptr) {
    input->AppendBuffer(buffer);
  } else {
    input->AppendBufferFor(host_policy, buffer);
  }
  return absl::OkStatus();
}

TRITONSERVER_Error* AddParameter(TRITONSERVER_InferenceRequest* request, const char* key,
                                 nereid::ParameterValue value) {
  return Change(request, [&](InferRequest* changed) {
    changed->AddParameter({std::string(Text(key)), std::move(value)});
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceRequestNew(
    TRITONSERVER_InferenceRequest** inference_request, TRITONSERVER_Server* server,
    const char* model_name, const int64_t model_version) try {
  absl::StatusOr<std::shared_ptr<ServingModel>> model =
      Unwrap(server)->FindModel(Text(model_name), model_version);
  if (!model.ok()) return ToCError(model.status());
  *inference_request = Wrap(new InferRequest(*std::move(model), model_version));
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(
    TRITONSERVER_InferenceRequest* inference_request) try {
  if (inference_request == nullptr) return nullptr;
  return ToCError(InferRequest::Delete(Unwrap(inference_request)));
} catch (...) {
  return CaughtError();
}

// ---- Properties.

TRITONSERVER_Error* TRITONSERVER_InferenceRequestId(
    TRITONSERVER_InferenceRequest* inference_request, const char** id) try {
  *id = Unwrap(inference_request)->id().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetId(
    TRITONSERVER_InferenceRequest* inference_request, const char* id) try {
  return Change(inference_request, [&](InferRequest* request) { request->set_id(Text(id)); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* flags) try {
  *flags = Unwrap(inference_request)->flags();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t flags) try {
  return Change(inference_request, [&](InferRequest* request) { request->set_flags(flags); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* correlation_id) try {
  const CorrelationId& id = Unwrap(inference_request)->correlation_id();
  if (id.is_string()) {
    return ToCError(
        absl::InvalidArgumentError("given request's correlation id is not an unsigned int"));
  }
  *correlation_id = id.uint_value();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char** correlation_id) try {
  const CorrelationId& id = Unwrap(inference_request)->correlation_id();
  if (!id.is_string()) {
    return ToCError(absl::InvalidArgumentError("given request's correlation id is not a string"));
  }
  *correlation_id = id.string_value().c_str();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t correlation_id) try {
  return Change(inference_request, [&](InferRequest* request) {
    request->set_correlation_id(CorrelationId(correlation_id));
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char* correlation_id) try {
  std::string id(Text(correlation_id));
  if (id.size() > nereid::kMaxCorrelationIdLength) {
    return ToCError(
        absl::UnimplementedError(absl::StrCat("string correlation ID cannot be longer than ",
                                              nereid::kMaxCorrelationIdLength, " characters")));
  }
  return Change(inference_request, [&](InferRequest* request) {
    request->set_correlation_id(CorrelationId(std::move(id)));
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* priority) try {
  const uint64_t value = Unwrap(inference_request)->priority();
  if (value > std::numeric_limits<uint32_t>::max()) {
    return ToCError(absl::InvalidArgumentError(absl::StrCat(
        "request priority overflows uint32_t, use TRITONSERVER_InferenceRequestPriorityUInt64, "
        "priority=",
        value)));
  }
  *priority = static_cast<uint32_t>(value);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* priority) try {
  *priority = Unwrap(inference_request)->priority();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t priority) try {
  return Change(inference_request, [&](InferRequest* request) { request->set_priority(priority); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t priority) try {
  return Change(inference_request, [&](InferRequest* request) { request->set_priority(priority); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* timeout_us) try {
  *timeout_us = Unwrap(inference_request)->timeout_us();
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t timeout_us) try {
  return Change(inference_request,
                [&](InferRequest* request) { request->set_timeout_us(timeout_us); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetStringParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const char* value) try {
  return AddParameter(request, key, std::string(Text(value)));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetIntParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const int64_t value) try {
  return AddParameter(request, key, value);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetBoolParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const bool value) try {
  return AddParameter(request, key, value);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetDoubleParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const double value) try {
  return AddParameter(request, key, value);
} catch (...) {
  return CaughtError();
}

// ---- Inputs and outputs.

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name,
    const TRITONSERVER_DataType datatype, const int64_t* shape, uint64_t dim_count) try {
  return Change(inference_request, [&](InferRequest* request) {
    return request
        ->AddInput(std::string(Text(name)), static_cast<nereid::DataType>(datatype),
                   absl::MakeConstSpan(shape, dim_count))
        .status();
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRawInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) try {
  return Change(inference_request, [&](InferRequest* request) {
    return request->AddRawInput(std::string(Text(name))).status();
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) try {
  return Change(inference_request,
                [&](InferRequest* request) { return request->RemoveInput(Text(name)); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputs(
    TRITONSERVER_InferenceRequest* inference_request) try {
  return Change(inference_request, [&](InferRequest* request) { request->RemoveAllInputs(); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id) try {
  return Change(inference_request, [&](InferRequest* request) {
    return AppendData(request, name, base, byte_size, memory_type, memory_type_id,
                      /*host_policy=*/nullptr);
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
    const char* host_policy_name) try {
  return Change(inference_request, [&](InferRequest* request) {
    return AppendData(request, name, base, byte_size, memory_type, memory_type_id,
                      host_policy_name);
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    TRITONSERVER_BufferAttributes* buffer_attributes) try {
  return Change(inference_request, [&](InferRequest* request) {
    const auto& handle = buffer_attributes->cuda_ipc_handle;
    return AppendData(request, name, base, buffer_attributes->byte_size,
                      buffer_attributes->memory_type, buffer_attributes->memory_type_id,
                      /*host_policy=*/nullptr, handle.has_value() ? &*handle : nullptr);
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) try {
  return Change(inference_request, [&](InferRequest* request) -> absl::Status {
    ASSIGN_OR_RETURN(InferInput* const input, FindInput(request, name));
    input->RemoveAllBuffers();
    return absl::OkStatus();
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) try {
  return Change(inference_request, [&](InferRequest* request) {
    return request->AddRequestedOutput(std::string(Text(name)));
  });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name) try {
  return Change(inference_request,
                [&](InferRequest* request) { request->RemoveRequestedOutput(Text(name)); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    TRITONSERVER_InferenceRequest* inference_request) try {
  return Change(inference_request,
                [&](InferRequest* request) { request->RemoveAllRequestedOutputs(); });
} catch (...) {
  return CaughtError();
}

// ---- Flight.

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceRequestReleaseFn_t request_release_fn, void* request_release_userp) try {
  ReleaseTarget target;
  // Without a callback there is no target, and the request cannot be issued.
  if (request_release_fn != nullptr) target.fn = CallRelease;
  target.userp = request_release_userp;
  target.foreign_fn = reinterpret_cast<void (*)()>(request_release_fn);
  return Change(inference_request,
                [&](InferRequest* request) { request->set_release_target(target); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_ResponseAllocator* response_allocator, void* response_allocator_userp,
    TRITONSERVER_InferenceResponseCompleteFn_t response_fn, void* response_userp) try {
  ResponseTarget target;
  if (response_fn != nullptr) target.fn = CallResponse;
  target.userp = response_userp;
  target.foreign_fn = reinterpret_cast<void (*)()>(response_fn);
  target.allocator = response_allocator;
  target.allocator_userp = response_allocator_userp;
  return Change(inference_request,
                [&](InferRequest* request) { request->set_response_target(target); });
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(
    TRITONSERVER_InferenceRequest* inference_request) try {
  return ToCError(Unwrap(inference_request)->Cancel());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestIsCancelled(
    TRITONSERVER_InferenceRequest* inference_request, bool* is_cancelled) try {
  const absl::StatusOr<bool> cancelled = Unwrap(inference_request)->IsCancelled();
  if (!cancelled.ok()) return ToCError(cancelled.status());
  *is_cancelled = *cancelled;
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
