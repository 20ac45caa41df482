// SPDX-License-Identifier: Apache-2.0
// GrpcEnvironment: what all calls of a gRPC server share. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_ENVIRONMENT_H_
#define NEREID_FRONTENDS_GRPC_GRPC_ENVIRONMENT_H_

#include <absl/status/status.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "base/gate.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/codec/placed_output_allocator.h"
#include "frontends/grpc/admin_service.h"
#include "frontends/grpc/grpc_server_options.h"
#include "frontends/grpc/reflection.h"
#include "frontends/grpc/serving_status.h"
#include "frontends/grpc/stream_flow.h"
#include "frontends/grpc/wire/message_reader.h"
#include "frontends/tracing/tracing.h"
#include "server/server.h"

namespace nereid {

// The error for new inference requests once the server is stopping.
inline absl::Status ShuttingDownError() {
  return absl::UnavailableError(
      "GRPC server is shutting down and has stopped accepting new requests.");
}

// The error for a message that another thread would have to read, when too many wait for that.
inline absl::Status TooManyLargeMessages() {
  return absl::UnavailableError("too many large messages at a time: try again later");
}

// The result of what another thread does with a message, unless it comes to another one.
inline absl::Status OutOfMemoryForMessage() {
  return absl::UnavailableError("out of memory for a large message; try again later");
}

struct GrpcEnvironment {
  GrpcEnvironment(Server* server_in, const GrpcServerOptions& options,
                  const GrpcExecutors& executors_in, SharedMemoryRegistry* shared_memory_in,
                  Tracing* tracing_in)
      : server(server_in),
        shared_memory(shared_memory_in),
        tracing(tracing_in),
        compression(options.response_compression),
        stream_limits{options.max_waiting_stream_bytes, options.max_response_pool_size,
                      options.max_connection_requests},
        max_admin_body_bytes(std::min(options.max_admin_body_bytes, kMaxMessageBytes)),
        stall_timeout(options.http2.stall_timeout),
        min_bytes_per_second(options.http2.min_bytes_per_second),
        allocators(server_in->in_flight_bytes()),
        api(options.api),
        methods(options.api, server_in, shared_memory_in, tracing_in),
        reflection(options.api),
        serving(server_in),
        executors(executors_in),
        access(options.access),
        why_no_rest(options.why_no_rest),
        header_forwarding(options.header_forwarding) {}

  // No message may be longer, in either direction.
  static constexpr uint64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();

  Server* const server;
  SharedMemoryRegistry* const shared_memory;
  Tracing* const tracing;
  const GrpcCompression compression;  // of inference responses
  const StreamLimits stream_limits;
  const uint64_t max_admin_body_bytes;
  const Duration stall_timeout;         // of a client that sends or reads too slowly
  const uint64_t min_bytes_per_second;  // of such a client; 0: none
  const OutputAllocators allocators;
  const GrpcApi api;
  const AdminService methods;
  const Reflection reflection;
  ServingStatus serving;
  const GrpcExecutors executors;
  const AccessControl access;
  const std::string why_no_rest;
  const HeaderForwarding header_forwarding;
  Gate calls;  // inside are requests not answered yet
  // Otherwise protobuf writes a line to stderr for each text of a client that is not UTF-8, on the
  // thread that parses it, as often as the client likes, and waits for whoever reads stderr. The
  // client gets an error.
  const google::protobuf::LogSilencer no_lines_of_protobuf;

  // How long messages of `method`, which outlives the limit, may be.
  MessageLimit LimitOf(absl::string_view method,
                       MessageSize size = MessageSize::kAdministration) const {
    switch (size) {
      case MessageSize::kSmall:
        return {kMostAtOnceBytes, method};
      case MessageSize::kAny:
        return {kMaxMessageBytes, method};
      case MessageSize::kAdministration:
        break;
    }
    return {max_admin_body_bytes, method, kMaxAdminBodyOption};
  }

  // Nanoseconds of the steady clock while requests are traced, otherwise 0.
  uint64_t TimeForTraces() const { return tracing->on() ? ToNanos(server->clock()->Now()) : 0; }
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_ENVIRONMENT_H_
