// SPDX-License-Identifier: Apache-2.0
// The status codes of gRPC, and how statuses of the server map to them. Pure functions,
// thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_GRPC_CODE_H_
#define NEREID_FRONTENDS_GRPC_WIRE_GRPC_CODE_H_

#include <absl/status/status.h>

namespace nereid {

// The values of grpc-status.
enum class GrpcCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "OK", "INVALID_ARGUMENT" and so on. The text lives as long as the program.
const char* GrpcCodeName(GrpcCode code);

// For a status of the core: the same code. Codes that the core's C API does not have become
// UNKNOWN.
GrpcCode GrpcCodeOfCore(absl::StatusCode code);

// For a status that the frontend itself made: as GrpcCodeOfCore, but RESOURCE_EXHAUSTED (a message
// that is too large), DEADLINE_EXCEEDED, UNAUTHENTICATED and PERMISSION_DENIED pass too.
GrpcCode GrpcCodeOfTransport(absl::StatusCode code);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_GRPC_CODE_H_
