// Maps the errors of the core to gRPC. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_STATUS_MAP_H_
#define NEREID_FRONTENDS_GRPC_STATUS_MAP_H_

#include <absl/status/status.h>
#include <grpcpp/support/status.h>

namespace nereid {

// The same code, with the message unchanged. Codes that the core's C API does not have become
// UNKNOWN.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STATUS_MAP_H_
