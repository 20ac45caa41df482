// SPDX-License-Identifier: Apache-2.0
// A server with its own models, its gRPC frontend, and a client connected over loopback. For tests.
// Thread-compatible; Infer may be called from any thread.
#ifndef NEREID_FRONTENDS_GRPC_TESTING_LOOPBACK_H_
#define NEREID_FRONTENDS_GRPC_TESTING_LOOPBACK_H_

#include <absl/strings/string_view.h>
#include <grpcpp/grpcpp.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "frontends/grpc/grpc_server.h"
#include "grpc_service.grpc.pb.h"
#include "server/server.h"

namespace nereid {

// Tensors of a model that echoes INPUT0 as OUTPUT0, FP32 of any length.
inline constexpr char kEchoTensors[] =
    "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
    "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n";

// `tensors` and `more` are parts of its configuration text.
struct TestModel {
  std::string name;
  std::string backend = "identity";
  std::string more;
  std::string tensors = kEchoTensors;
};

// Configuration text of one model parameter.
std::string ModelParameterText(absl::string_view key, absl::string_view value);

class Loopback {
 public:
  // Large messages that may wait for the one thread that decompresses.
  static constexpr size_t kMaxWaitingCompressions = 3;

  explicit Loopback(const std::vector<TestModel>& models, ServerOptions options = {},
                    GrpcServerOptions grpc_options = {});
  ~Loopback();

  Server* server() { return server_.get(); }
  GrpcExecutors executors() { return {&admin_, &compression_}; }
  GrpcServer* grpc() { return grpc_.get(); }
  inference::GRPCInferenceService::Stub* stub() { return stub_.get(); }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }

  // Sends `values` as raw contents to `model`.
  static inference::ModelInferRequest EchoRequest(const std::string& model,
                                                  const std::vector<float>& values);
  grpc::Status Infer(const inference::ModelInferRequest& request,
                     inference::ModelInferResponse* response);
  grpc::Status Infer(const inference::ModelInferRequest& request);
  // Whether all calls are answered and all bytes in flight returned within some seconds.
  bool BecomesIdle();

 private:
  std::filesystem::path repository_;
  Server::Owner server_;
  // These end before the server is destroyed.
  ThreadPool admin_{ThreadPoolOptions()};
  ThreadPool compression_{ThreadPoolOptions{"compression", 1, 1, kMaxWaitingCompressions}};
  std::unique_ptr<GrpcServer> grpc_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
};

// Waits until `condition` holds; false if that takes more than some seconds.
bool Eventually(const std::function<bool()>& condition);

// An FP32 tensor in its wire format.
std::string FloatBytes(const std::vector<float>& values);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TESTING_LOOPBACK_H_
