// SPDX-License-Identifier: Apache-2.0
// Converts a Status from the other process to an Error of the SDK. Stateless.
#ifndef NEREID_BACKENDS_TENSORFLOW_STATUS_ERROR_H_
#define NEREID_BACKENDS_TENSORFLOW_STATUS_ERROR_H_

#include "backends/sdk/error.h"
#include "backends/tensorflow/ipc/status.h"

namespace nereid_backend {

// With `context` before the message.
inline Error ToError(const nereid_tensorflow::Status& status, std::string_view context = "") {
  using nereid_tensorflow::StatusCode;
  const auto code = [&] {
    switch (status.code) {
      case StatusCode::kInvalidArgument:
        return TRITONSERVER_ERROR_INVALID_ARG;
      case StatusCode::kNotFound:
        return TRITONSERVER_ERROR_NOT_FOUND;
      case StatusCode::kUnsupported:
        return TRITONSERVER_ERROR_UNSUPPORTED;
      case StatusCode::kUnavailable:
        return TRITONSERVER_ERROR_UNAVAILABLE;
      case StatusCode::kOk:
      case StatusCode::kInternal:
        break;
    }
    return TRITONSERVER_ERROR_INTERNAL;
  };
  if (status.ok()) return Error();
  return Error(code(), StrCat(context, status.message));
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_STATUS_ERROR_H_
