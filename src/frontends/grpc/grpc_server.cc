#include "frontends/grpc/grpc_server.h"

#include <absl/synchronization/mutex.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/status_macros.h"
#include "frontends/grpc/admin_call.h"
#include "frontends/grpc/call_queue.h"
#include "frontends/grpc/infer_service.h"
#include "frontends/grpc/library_logs.h"
#include "frontends/grpc/listen.h"
#include "frontends/grpc/stream_infer.h"
#include "frontends/grpc/unary_infer.h"

namespace nereid {
namespace {

constexpr int kMaxQueues = 128;
// Memory that gRPC may use besides the messages covered by the server's own limit.
constexpr size_t kQuotaSlack = 64 << 20;
// Calls awaited at a time on one queue: a call that finds none waiting takes a slower path.
constexpr int kAwaitedInferCalls = 16;
constexpr int kAwaitedStreamCalls = 4;
constexpr int kAwaitedAdminCalls = 2;

// Tells the thread that stops the server that all calls are answered. Shared with the calls,
// because the last one may outlive that thread and the server. Thread-safe.
class AllAnswered {
 public:
  void Set() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    set_ = true;
    changed_.NotifyAll();
  }
  // Whether it was set until `deadline`.
  bool Wait(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (!set_ && std::chrono::steady_clock::now() < deadline) changed_.WaitUntil(&mu_, deadline);
    return set_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool set_ ABSL_GUARDED_BY(mu_) = false;
};

absl::Status CheckOptions(const GrpcServerOptions& options) {
  if (options.infer_threads < 1 || options.infer_threads > kMaxQueues) {
    return absl::InvalidArgumentError(
        "invalid argument for --grpc_infer_thread_count. Must be in the range 2 to 128.");
  }
  if (options.call_pool_size < 0) {
    return absl::InvalidArgumentError(
        "invalid argument for --grpc-infer-allocation-pool-size. Must not be negative.");
  }
  if (options.max_response_pool_size <= 0) {
    return absl::InvalidArgumentError(
        "Error: --grpc-max-response-pool-size must be greater than 0.");
  }
  return absl::OkStatus();
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const GrpcServerOptions& options, Server* server, SpareExecutor* admin)
      : infer_(std::make_shared<InferEnvironment>(server, options)),
        admin_(std::make_shared<AdminEnvironment>(server, admin)) {}
  ~Impl() { Stop(std::chrono::steady_clock::now()); }

  absl::Status Start(const GrpcServerOptions& options);
  void Stop(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

  uint16_t port() const { return port_; }
  int64_t in_flight_calls() const { return infer_->calls.inside(); }

 private:
  // Refuses new inference and waits until all requests in flight are answered, or until the
  // deadline.
  void Drain(TimePoint deadline);

  const std::shared_ptr<InferEnvironment> infer_;
  const std::shared_ptr<AdminEnvironment> admin_;
  uint16_t port_ = 0;
  std::vector<std::shared_ptr<CallQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;

  Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

absl::Status GrpcServer::Impl::Start(const GrpcServerOptions& options) {
  SendLibraryLogsToLog();
  // Distributions build Abseil with deadlock detection switched on, which costs gRPC time at each
  // of its locks.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ServerCredentials> credentials,
                   MakeCredentials(options.tls));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(ListenTarget(options.address, options.port), credentials, &port);
  SetChannelArguments(options, &builder);
  // The server's limit applies to whole messages; while a message is still arriving, only gRPC can
  // stop it.
  if (const uint64_t limit = infer_->server->in_flight_bytes()->limit(); limit > 0) {
    grpc::ResourceQuota quota("nereid");
    quota.Resize(limit + kQuotaSlack);
    builder.SetResourceQuota(quota);
  }
  builder.RegisterService(&infer_->service);
  builder.RegisterAsyncGenericService(&admin_->service);
  for (int i = 0; i < options.infer_threads; ++i) {
    queues_.push_back(std::make_shared<CallQueue>(builder.AddCompletionQueue(),
                                                  static_cast<size_t>(options.call_pool_size)));
  }
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port == 0) return ListenError(options.address, options.port);
  port_ = static_cast<uint16_t>(port);
  for (const std::shared_ptr<CallQueue>& queue : queues_) {
    for (int i = 0; i < kAwaitedInferCalls; ++i) UnaryInfer::AwaitCall(infer_, queue);
    for (int i = 0; i < kAwaitedStreamCalls; ++i) StreamInfer::AwaitCall(infer_, queue);
    for (int i = 0; i < kAwaitedAdminCalls; ++i) AdminCall::AwaitCall(admin_, queue);
    queue->Start();
  }
  return absl::OkStatus();
}

void GrpcServer::Impl::Stop(TimePoint deadline) {
  {
    MutexLock lock(&mu_);
    if (std::exchange(stopping_, true)) return;
  }
  if (server_ != nullptr) {
    Drain(deadline);
    // Calls not answered by now are cancelled.
    server_->Shutdown(std::chrono::system_clock::now());
  }
  for (const std::shared_ptr<CallQueue>& queue : queues_) queue->Stop();
}

void GrpcServer::Impl::Drain(TimePoint deadline) {
  if (const int64_t left = infer_->calls.inside(); left > 0) {
    LOG_INFO << "gRPC: waiting for " << left << " inference calls in flight";
  }
  const auto all_answered = std::make_shared<AllAnswered>();
  infer_->calls.Close([all_answered] { all_answered->Set(); });
  if (!all_answered->Wait(deadline)) {
    LOG_WARNING << "gRPC: cancelling " << infer_->calls.inside()
                << " inference calls that are not finished in the time to stop";
  }
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              Server* server,
                                                              SpareExecutor* admin) {
  auto impl = std::make_unique<Impl>(options, server, admin);
  RETURN_IF_ERROR(impl->Start(options));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const { return impl_->port(); }
int64_t GrpcServer::in_flight_calls() const { return impl_->in_flight_calls(); }
void GrpcServer::Stop(TimePoint deadline) { impl_->Stop(deadline); }

}  // namespace nereid
