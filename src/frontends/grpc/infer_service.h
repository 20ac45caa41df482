// What all inference calls of a gRPC server share: the method as gRPC knows it, and their
// surroundings.
#ifndef NEREID_FRONTENDS_GRPC_INFER_SERVICE_H_
#define NEREID_FRONTENDS_GRPC_INFER_SERVICE_H_

#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/byte_buffer.h>

#include "base/gate.h"
#include "frontends/grpc/grpc_server.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

// The service GRPCInferenceService with the methods whose messages are taken as bytes. All other
// methods reach the generic service (admin_call.h). Thread-safe once registered.
class InferService final : public grpc::Service {
 public:
  static constexpr char kModelInfer[] = "/inference.GRPCInferenceService/ModelInfer";

  InferService() {
    AddMethod(new grpc::internal::RpcServiceMethod(
        kModelInfer, grpc::internal::RpcMethod::NORMAL_RPC, /*handler=*/nullptr));
    MarkMethodRaw(0);
  }

  // `tag` comes back with the next call, whose message is then in `message`.
  void RequestModelInfer(grpc::ServerContext* context, grpc::ByteBuffer* message,
                         grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
                         grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(0, context, message, writer, queue, queue, tag);
  }
};

// Shared by the server and the calls under way. Thread-safe.
struct InferEnvironment {
  InferEnvironment(Server* server_in, GrpcCompression compression_in)
      : server(server_in), compression(compression_in), allocator(server_in->in_flight_bytes()) {}

  Server* const server;
  const GrpcCompression compression;
  const HeapOutputAllocator allocator;
  InferService service;
  Gate calls;  // inside: those that are not answered yet
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_INFER_SERVICE_H_
