// SPDX-License-Identifier: Apache-2.0
// Owners of the C API's objects, and its status as ours. Values.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_TF_HANDLES_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_TF_HANDLES_H_

#include <tensorflow/c/c_api.h>

#include <memory>
#include <string>

#include "backends/tensorflow/ipc/status.h"

namespace nereid_tensorflow {

template <auto Delete>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Delete(object);
  }
};

using TfStatus = std::unique_ptr<TF_Status, Deleter<&TF_DeleteStatus>>;
using TfGraph = std::unique_ptr<TF_Graph, Deleter<&TF_DeleteGraph>>;
using TfBuffer = std::unique_ptr<TF_Buffer, Deleter<&TF_DeleteBuffer>>;
using TfSessionOptions = std::unique_ptr<TF_SessionOptions, Deleter<&TF_DeleteSessionOptions>>;
using TfImportOptions =
    std::unique_ptr<TF_ImportGraphDefOptions, Deleter<&TF_DeleteImportGraphDefOptions>>;
using TfTensor = std::unique_ptr<TF_Tensor, Deleter<&TF_DeleteTensor>>;

// Only the first line: the rest is the runtime's trace of the model's Python source.
inline Status ToStatus(const TF_Status* status) {
  std::string message = TF_Message(status);
  message = message.substr(0, message.find('\n'));
  switch (TF_GetCode(status)) {
    case TF_OK:
      return {};
    case TF_INVALID_ARGUMENT:
    case TF_OUT_OF_RANGE:
      return {StatusCode::kInvalidArgument, std::move(message)};
    case TF_NOT_FOUND:
      return {StatusCode::kNotFound, std::move(message)};
    case TF_UNIMPLEMENTED:
      return {StatusCode::kUnsupported, std::move(message)};
    case TF_RESOURCE_EXHAUSTED:
    case TF_UNAVAILABLE:
      return {StatusCode::kUnavailable, std::move(message)};
    default:
      return {StatusCode::kInternal, std::move(message)};
  }
}

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_TF_HANDLES_H_
