// SPDX-License-Identifier: Apache-2.0
// Status: success or an error, in the form passed between the two processes. The worker does not
// link the server, so it cannot use the SDK's Error. Values.
#ifndef NEREID_BACKENDS_TENSORFLOW_IPC_STATUS_H_
#define NEREID_BACKENDS_TENSORFLOW_IPC_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>

namespace nereid_tensorflow {

enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,
  kNotFound,
  kUnsupported,
  kUnavailable,
  kInternal,
};

struct [[nodiscard]] Status {
  StatusCode code = StatusCode::kOk;
  std::string message;

  bool ok() const { return code == StatusCode::kOk; }

  static Status InvalidArgument(std::string message) {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }
  static Status NotFound(std::string message) {
    return {StatusCode::kNotFound, std::move(message)};
  }
  static Status Unavailable(std::string message) {
    return {StatusCode::kUnavailable, std::move(message)};
  }
  static Status Internal(std::string message) {
    return {StatusCode::kInternal, std::move(message)};
  }
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_IPC_STATUS_H_
