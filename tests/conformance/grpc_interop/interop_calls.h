// SPDX-License-Identifier: Apache-2.0
// The calls of grpc.testing.TestService, the service of gRPC's interop suite, on the transport of
// the gRPC frontend.
//
// As every GrpcCall, they live on the thread of their connection's loop.
#ifndef NEREID_TESTS_CONFORMANCE_GRPC_INTEROP_INTEROP_CALLS_H_
#define NEREID_TESTS_CONFORMANCE_GRPC_INTEROP_INTEROP_CALLS_H_

#include <absl/strings/string_view.h>

#include <memory>

#include "frontends/grpc/grpc_call.h"

namespace nereid::interop {

// The call of the method `path`; null if there is no such method.
std::shared_ptr<GrpcCall> MakeCall(absl::string_view path, GrpcCall::Origin origin);

}  // namespace nereid::interop

#endif  // NEREID_TESTS_CONFORMANCE_GRPC_INTEROP_INTEROP_CALLS_H_
