// SPDX-License-Identifier: Apache-2.0
// The one place where the opaque handles of the backend API become C++ objects. Stateless.
#ifndef NEREID_BACKEND_HOST_API_HANDLES_H_
#define NEREID_BACKEND_HOST_API_HANDLES_H_

#include <memory>

#include "backend_host/backend_instance.h"
#include "backend_host/backend_library.h"
#include "backend_host/backend_model.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "infer/sequence_states.h"
#include "triton/core/tritonbackend.h"

namespace nereid {

// A response factory is a reference to its stream.
struct ResponseFactory {
  std::shared_ptr<ResponseStream> stream;
};

inline LoadedBackend* Unwrap(TRITONBACKEND_Backend* p) {
  return reinterpret_cast<LoadedBackend*>(p);
}
inline BackendModel* Unwrap(TRITONBACKEND_Model* p) { return reinterpret_cast<BackendModel*>(p); }
inline BackendInstance* Unwrap(TRITONBACKEND_ModelInstance* p) {
  return reinterpret_cast<BackendInstance*>(p);
}
inline InferRequest* Unwrap(TRITONBACKEND_Request* p) { return reinterpret_cast<InferRequest*>(p); }
inline InferInput* Unwrap(TRITONBACKEND_Input* p) { return reinterpret_cast<InferInput*>(p); }
inline InferResponse* Unwrap(TRITONBACKEND_Response* p) {
  return reinterpret_cast<InferResponse*>(p);
}
inline ResponseOutput* Unwrap(TRITONBACKEND_Output* p) {
  return reinterpret_cast<ResponseOutput*>(p);
}
inline SequenceState* Unwrap(TRITONBACKEND_State* p) { return reinterpret_cast<SequenceState*>(p); }
inline ResponseFactory* Unwrap(TRITONBACKEND_ResponseFactory* p) {
  return reinterpret_cast<ResponseFactory*>(p);
}
inline BackendAttributes* Unwrap(TRITONBACKEND_BackendAttribute* p) {
  return reinterpret_cast<BackendAttributes*>(p);
}

// Writes `value` unless the caller passed null.
template <typename T, typename V>
void SetIf(T* out, const V& value) {
  if (out != nullptr) *out = value;
}

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_API_HANDLES_H_
