// SPDX-License-Identifier: Apache-2.0
// Turns ONNX Runtime's exceptions into Errors at the place of the call. Stateless.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_ORT_ERROR_H_
#define NEREID_BACKENDS_ONNXRUNTIME_ORT_ERROR_H_

#include <onnxruntime_cxx_api.h>

#include "backends/sdk/error.h"

namespace nereid_backend {

// Runs `body` (returns Error). INVALID_ARG if the runtime reports an invalid argument, INTERNAL for
// its other failures, with `context` before its message.
template <typename Body>
Error OrtTry(std::string_view context, Body&& body) {
  try {
    return body();
  } catch (const Ort::Exception& e) {
    const bool argument = e.GetOrtErrorCode() == ORT_INVALID_ARGUMENT;
    std::string_view text = e.what();
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return Error(
        argument ? TRITONSERVER_ERROR_INVALID_ARG : TRITONSERVER_ERROR_INTERNAL,
        StrCat(context, "onnx runtime error ", static_cast<int>(e.GetOrtErrorCode()), ": ", text));
  }
}

// Whether a Run failed only because an output does not fit the tensor passed for it. The runtime
// has no error code for that; its text differs before and during the Run.
inline bool IsOutputMismatch(const Error& error) {
  if (error.ok() || error.code() != TRITONSERVER_ERROR_INVALID_ARG) return false;
  const std::string_view message = error.message();
  return message.find("Got invalid dimensions for output") != std::string_view::npos ||
         message.find("The output OrtValue provided for output") != std::string_view::npos;
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_ORT_ERROR_H_
