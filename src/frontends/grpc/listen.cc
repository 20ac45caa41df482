#include "frontends/grpc/listen.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr int kStreamWindowBytes = 8 << 20;
constexpr int kMaxFrameBytes = 1 << 20;

absl::StatusOr<std::string> ReadPem(const char* what, const std::string& path) {
  if (path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("gRPC over TLS needs a file with the ", what));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) {
    return absl::NotFoundError(absl::StrCat("cannot read the ", what, " from '", path, "'"));
  }
  return text.str();
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

// The error of binding and listening; 0 if that works now.
int TryToListen(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype, address.ai_protocol);
  if (fd < 0) return errno;
  // Like gRPC, treats ports of recently closed connections as free.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  int error = bind(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == 0 && ::listen(fd, 1) != 0) error = errno;
  close(fd);
  return error;
}

}  // namespace

std::string ListenTarget(const std::string& address, uint16_t port) {
  const bool bare_ipv6 = absl::StrContains(address, ':') && !absl::StartsWith(address, "[");
  return bare_ipv6 ? absl::StrCat("[", address, "]:", port) : absl::StrCat(address, ":", port);
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const GrpcTlsOptions& options) {
  if (!options.enabled && !options.mutual) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions ssl;
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  ASSIGN_OR_RETURN(pair.private_key, ReadPem("server key", options.key));
  ASSIGN_OR_RETURN(pair.cert_chain, ReadPem("server certificate", options.certificate));
  ssl.pem_key_cert_pairs.push_back(std::move(pair));
  if (options.mutual || !options.root.empty()) {
    ASSIGN_OR_RETURN(ssl.pem_root_certs, ReadPem("root certificate", options.root));
  }
  ssl.client_certificate_request = options.mutual
                                       ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                       : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return grpc::SslServerCredentials(ssl);
}

void SetChannelArguments(const GrpcServerOptions& options, grpc::ServerBuilder* builder) {
  const GrpcKeepaliveOptions& keepalive = options.keepalive;
  builder->SetMaxReceiveMessageSize(std::numeric_limits<int32_t>::max());
  builder->SetMaxSendMessageSize(std::numeric_limits<int32_t>::max());
  // With the library's default of 64 KiB, a client that sends a tensor stops after the first piece
  // of each message until it is told to continue, and with the default frame size of 16 KiB a
  // tensor arrives in hundreds of frames. The resource quota bounds what all connections may hold.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
  if (options.max_connection_requests > 0) {
    builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_connection_requests);
  }
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, options.reuse_port ? 1 : 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.time_ms);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.timeout_ms);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS,
                              keepalive.permit_without_calls ? 1 : 0);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA,
                              keepalive.http2_max_pings_without_data);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              keepalive.http2_min_recv_ping_interval_without_data_ms);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, keepalive.http2_max_ping_strikes);
  if (keepalive.max_connection_age_ms > 0) {
    builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, keepalive.max_connection_age_ms);
  }
  if (keepalive.max_connection_age_grace_ms > 0) {
    builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                                keepalive.max_connection_age_grace_ms);
  }
}

absl::Status ListenError(const std::string& address, uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on '", address, ":", port, "': ", gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int error = TryToListen(*one);
    if (error == EADDRINUSE) {
      return absl::UnavailableError(
          absl::StrCat("Socket '", address, ":", port, "' already in use "));
    }
    if (error != 0) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on '", address, ":", port, "': ", std::strerror(error)));
    }
  }
  return absl::UnavailableError(absl::StrCat("cannot listen on '", address, ":", port,
                                             "' (with TLS: key and certificate may be bad)"));
}

}  // namespace nereid
