// SPDX-License-Identifier: Apache-2.0
// The one place where the opaque handles of the server API become C++ objects. Stateless.
//
// Handles whose struct the core defines itself (errors, messages, buffer attributes, parameters,
// allocators, options) need no conversion.
#ifndef NEREID_C_API_HANDLES_H_
#define NEREID_C_API_HANDLES_H_

#include "infer/infer_request.h"
#include "infer/response.h"
#include "server/server.h"
#include "triton/core/tritonserver.h"

namespace nereid {

inline Server* Unwrap(TRITONSERVER_Server* p) { return reinterpret_cast<Server*>(p); }
inline InferRequest* Unwrap(TRITONSERVER_InferenceRequest* p) {
  return reinterpret_cast<InferRequest*>(p);
}
inline InferResponse* Unwrap(TRITONSERVER_InferenceResponse* p) {
  return reinterpret_cast<InferResponse*>(p);
}
inline InferenceTrace* Unwrap(TRITONSERVER_InferenceTrace* p) {
  return reinterpret_cast<InferenceTrace*>(p);
}

inline TRITONSERVER_Server* Wrap(Server* p) { return reinterpret_cast<TRITONSERVER_Server*>(p); }
inline TRITONSERVER_InferenceRequest* Wrap(InferRequest* p) {
  return reinterpret_cast<TRITONSERVER_InferenceRequest*>(p);
}
inline TRITONSERVER_InferenceResponse* Wrap(InferResponse* p) {
  return reinterpret_cast<TRITONSERVER_InferenceResponse*>(p);
}
inline TRITONSERVER_InferenceTrace* Wrap(InferenceTrace* p) {
  return reinterpret_cast<TRITONSERVER_InferenceTrace*>(p);
}

// A text argument; null reads as "".
inline absl::string_view Text(const char* text) {
  return text == nullptr ? absl::string_view() : absl::string_view(text);
}

}  // namespace nereid

#endif  // NEREID_C_API_HANDLES_H_
