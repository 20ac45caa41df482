// What gRPC needs to listen: address, credentials, channel arguments; and the reason if it could
// not. Pure functions except for files and sockets; thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_LISTEN_H_
#define NEREID_FRONTENDS_GRPC_LISTEN_H_

#include <absl/status/statusor.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <cstdint>
#include <memory>
#include <string>

#include "frontends/grpc/grpc_server.h"

namespace nereid {

// "host:port"; an IPv6 address gets brackets.
std::string ListenTarget(const std::string& address, uint16_t port);

// NOT_FOUND for a file that cannot be read, INVALID_ARGUMENT if a required file is not named.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const GrpcTlsOptions& options);

// Pings, connection age, message sizes, sharing of the port.
void SetChannelArguments(const GrpcServerOptions& options, grpc::ServerBuilder* builder);

// The reason why gRPC could not listen, found by trying the same, because gRPC does not report it.
// UNAVAILABLE.
absl::Status ListenError(const std::string& address, uint16_t port);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_LISTEN_H_
