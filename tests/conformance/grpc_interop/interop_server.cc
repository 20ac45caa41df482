// SPDX-License-Identifier: Apache-2.0
// The test server of gRPC's interop suite on the transport of the gRPC frontend, for the clients of
// others (tests/conformance/README.md). Listens on a free port of 127.0.0.1, prints one line that
// ends with the port, and runs until SIGTERM or SIGINT.
#include <absl/strings/str_cat.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "base/threads/thread_pool.h"
#include "frontends/grpc/grpc_environment.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/transport/http2/connection.h"
#include "frontends/transport/io_loop.h"
#include "frontends/transport/port.h"
#include "interop_calls.h"
#include "server/server.h"

namespace nereid::interop {
namespace {

constexpr Duration kLinger = std::chrono::seconds(1);

// The calls of the test service; UNIMPLEMENTED for others.
class TestService final : public http2::RequestAcceptor {
 public:
  explicit TestService(std::shared_ptr<GrpcEnvironment> environment)
      : environment_(std::move(environment)) {}

  std::shared_ptr<http2::StreamUser> OnRequest(
      const std::shared_ptr<http2::Stream>& stream,
      const std::shared_ptr<http2::Connection>& connection) override {
    if (!GrpcCall::IsCall(*stream)) return GrpcCall::RefuseOther(stream.get(), "");
    const absl::string_view path = stream->FindHeader(":path");
    std::shared_ptr<GrpcCall> call =
        MakeCall(path, {environment_, connection, stream,
                        environment_->LimitOf("a method of the test service", MessageSize::kAny)});
    if (call == nullptr) {
      GrpcCall::Refuse(stream.get(), absl::UnimplementedError("there is no such method here"));
      return nullptr;
    }
    return call->ReadHead() ? call : nullptr;
  }

 private:
  const std::shared_ptr<GrpcEnvironment> environment_;
};

// A folder that exists as long as the object.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "grpc_interop.XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Serves until one of `ends` arrives, which all threads block.
absl::Status Serve(TestService* service, const sigset_t& ends) {
  const auto settings = std::make_shared<http2::ConnectionSettings>();
  settings->acceptor = service;
  transport::PortOptions options;
  options.listen.where.protocol = "gRPC";
  options.listen.where.address = "127.0.0.1";
  options.loop.sweep_interval = std::chrono::milliseconds(20);
  options.thread_name = "interop";
  options.connections_name = "connections";
  options.max_connections = 1000;
  transport::Port port(std::move(options),
                       [settings](std::shared_ptr<transport::IoLoop> loop,
                                  transport::Channel channel, BudgetUnits slot) {
                         return std::make_shared<http2::Connection>(
                             settings, std::move(loop), std::move(channel), std::move(slot));
                       });
  RETURN_IF_ERROR(port.Open());
  std::printf("listening on 127.0.0.1:%d\n", port.number());
  std::fflush(stdout);
  int signal_number = 0;
  sigwait(&ends, &signal_number);
  port.Close();
  port.Stop(Clock::Real()->Now() + kLinger);
  return absl::OkStatus();
}

// The environment of the calls is that of a server without models.
absl::Status Run(const sigset_t& ends) {
  const Folder folder;
  ServerOptions options;
  options.model_repositories = {folder.path()};
  options.backend_directory = folder.path();
  absl::StatusOr<Server::Owner> server = Server::Create(options);
  RETURN_IF_ERROR(server.status());
  absl::Status served;
  {
    ThreadPool executor{ThreadPoolOptions()};
    TestService service(std::make_shared<GrpcEnvironment>(
        server->get(), GrpcServerOptions(), GrpcExecutors{&executor, &executor},
        SharedMemoryRegistry::Closed(), Tracing::Off()));
    served = Serve(&service, ends);
  }
  RETURN_IF_ERROR((*server)->Stop());
  return served;
}

}  // namespace
}  // namespace nereid::interop

int main() {
  // Before the first thread, so that all of them block these.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const absl::Status status = nereid::interop::Run(ends);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
