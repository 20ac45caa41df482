// What all inference calls of a gRPC server share: the methods as registered with gRPC, and the
// environment of the calls.
#ifndef NEREID_FRONTENDS_GRPC_INFER_SERVICE_H_
#define NEREID_FRONTENDS_GRPC_INFER_SERVICE_H_

#include <absl/status/status.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include "base/gate.h"
#include "frontends/grpc/grpc_server.h"
#include "frontends/grpc/peer_accounts.h"
#include "frontends/grpc/stream_flow.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

// The service GRPCInferenceService with those methods whose messages are received as bytes. All
// other methods reach the generic service (admin_call.h). Thread-safe once registered.
class InferService final : public grpc::Service {
 public:
  static constexpr char kModelInfer[] = "/inference.GRPCInferenceService/ModelInfer";
  static constexpr char kModelStreamInfer[] = "/inference.GRPCInferenceService/ModelStreamInfer";

  InferService() {
    AddRawMethod(kModelInfer, grpc::internal::RpcMethod::NORMAL_RPC);
    AddRawMethod(kModelStreamInfer, grpc::internal::RpcMethod::BIDI_STREAMING);
  }

  // `tag` is returned with the next call, whose message is then in `message`.
  void RequestModelInfer(grpc::ServerContext* context, grpc::ByteBuffer* message,
                         grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
                         grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(0, context, message, writer, queue, queue, tag);
  }
  // `tag` is returned with the next call.
  void RequestModelStreamInfer(
      grpc::ServerContext* context,
      grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>* stream,
      grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(1, context, stream, queue, queue, tag);
  }

 private:
  void AddRawMethod(const char* name, grpc::internal::RpcMethod::RpcType type) {
    AddMethod(new grpc::internal::RpcServiceMethod(name, type, /*handler=*/nullptr));
    MarkMethodRaw(methods_++);
  }

  int methods_ = 0;
};

// The error for new inference requests once the server is stopping.
inline absl::Status ShuttingDownError() {
  return absl::UnavailableError(
      "GRPC server is shutting down and has stopped accepting new requests.");
}

// Shared by the server and the calls in progress. Thread-safe.
struct InferEnvironment {
  InferEnvironment(Server* server_in, const GrpcServerOptions& options)
      : server(server_in),
        compression(options.response_compression),
        stream_limits{options.max_waiting_stream_bytes, options.max_response_pool_size,
                      options.stream_stall_timeout, options.max_connection_requests},
        allocator(server_in->in_flight_bytes()),
        peers(server_in->options().max_in_flight_requests,
              server_in->options().max_model_requests) {}

  // Sets up the context of a call; every call begins with this.
  void Prepare(grpc::ServerContext* context) const;

  Server* const server;
  const GrpcCompression compression;
  const StreamLimits stream_limits;
  const HeapOutputAllocator allocator;
  PeerAccounts peers;  // accounts of unary calls
  InferService service;
  Gate calls;  // inside are requests not answered yet
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_INFER_SERVICE_H_
