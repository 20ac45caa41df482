// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/grpc_code.h"

#include <array>
#include <cstddef>

namespace nereid {

GrpcCode GrpcCodeOfCore(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return GrpcCode::kOk;
    case absl::StatusCode::kInternal:
      return GrpcCode::kInternal;
    case absl::StatusCode::kNotFound:
      return GrpcCode::kNotFound;
    case absl::StatusCode::kInvalidArgument:
      return GrpcCode::kInvalidArgument;
    case absl::StatusCode::kUnavailable:
      return GrpcCode::kUnavailable;
    case absl::StatusCode::kUnimplemented:
      return GrpcCode::kUnimplemented;
    case absl::StatusCode::kAlreadyExists:
      return GrpcCode::kAlreadyExists;
    case absl::StatusCode::kCancelled:
      return GrpcCode::kCancelled;
    default:
      return GrpcCode::kUnknown;
  }
}

GrpcCode GrpcCodeOfTransport(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kResourceExhausted:
      return GrpcCode::kResourceExhausted;
    case absl::StatusCode::kDeadlineExceeded:
      return GrpcCode::kDeadlineExceeded;
    case absl::StatusCode::kUnauthenticated:
      return GrpcCode::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return GrpcCode::kPermissionDenied;
    default:
      return GrpcCodeOfCore(code);
  }
}

const char* GrpcCodeName(GrpcCode code) {
  static constexpr std::array<const char*, 17> kNames = {"OK",
                                                         "CANCELLED",
                                                         "UNKNOWN",
                                                         "INVALID_ARGUMENT",
                                                         "DEADLINE_EXCEEDED",
                                                         "NOT_FOUND",
                                                         "ALREADY_EXISTS",
                                                         "PERMISSION_DENIED",
                                                         "RESOURCE_EXHAUSTED",
                                                         "FAILED_PRECONDITION",
                                                         "ABORTED",
                                                         "OUT_OF_RANGE",
                                                         "UNIMPLEMENTED",
                                                         "INTERNAL",
                                                         "UNAVAILABLE",
                                                         "DATA_LOSS",
                                                         "UNAUTHENTICATED"};
  return kNames[static_cast<size_t>(code)];
}

}  // namespace nereid
