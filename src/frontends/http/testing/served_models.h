// SPDX-License-Identifier: Apache-2.0
// ServedModels: a real server with models of the test backends, behind an HTTP port on loopback.
// For tests whose target has NEREID_TEST_BACKENDS.
#ifndef NEREID_FRONTENDS_HTTP_TESTING_SERVED_MODELS_H_
#define NEREID_FRONTENDS_HTTP_TESTING_SERVED_MODELS_H_

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "frontends/http/http_frontend.h"
#include "frontends/http/transport/testing/loopback_client.h"

namespace nereid {

class ServedModels {
 public:
  // Serves models with these configurations by name. A failure is one of the test, and then there
  // is no port.
  explicit ServedModels(const std::map<std::string, std::string>& configs,
                        const HttpFrontendOptions& options = HttpFrontendOptions()) {
    std::string folder = testing::TempDir() + "served_models.XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    repository_ = folder;
    for (const auto& [name, config] : configs) {
      std::filesystem::create_directories(repository_ / name / "1");
      std::ofstream(repository_ / name / "config.pbtxt") << config;
    }
    Start(options);
  }
  ~ServedModels() {
    if (http_ != nullptr) http_->Stop(TimePoint::min());
    http_.reset();
    EXPECT_TRUE(pool_.End(TimePoint::max()));
    if (server_ != nullptr) {
      EXPECT_TRUE(server_->Stop().ok());
    }
    std::filesystem::remove_all(repository_);
  }
  ServedModels(const ServedModels&) = delete;
  ServedModels& operator=(const ServedModels&) = delete;

  Server* server() { return server_.get(); }
  ThreadPool* pool() { return &pool_; }
  LoopbackClient Connect() { return LoopbackClient(http_->port()); }
  ReceivedResponse Get(const std::string& path) {
    return Connect().RoundTrip(absl::StrCat("GET ", path, " HTTP/1.1\r\n\r\n"));
  }
  static std::string PostRequest(const std::string& path, const std::string& body,
                                 const std::string& headers = "") {
    return absl::StrCat("POST ", path, " HTTP/1.1\r\n", headers, "Content-Length: ", body.size(),
                        "\r\n\r\n", body);
  }
  ReceivedResponse Post(const std::string& path, const std::string& body,
                        const std::string& headers = "") {
    return Connect().RoundTrip(PostRequest(path, body, headers));
  }

  // Whether `condition` comes true in a time that is long enough for all that is not stuck.
  static bool Eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }
  // Whether no request and no byte stays in flight.
  bool BecomesIdle() {
    return Eventually([this] {
      return server_->in_flight_bytes()->used() == 0 && server_->in_flight_requests()->used() == 0;
    });
  }

 private:
  void Start(const HttpFrontendOptions& options) {
    ServerOptions of_server;
    of_server.model_repositories = {repository_.string()};
    of_server.backend_directory = NEREID_TEST_BACKENDS;
    auto server = Server::Create(of_server);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    frontend_ =
        std::make_unique<HttpFrontend>(server_.get(), HttpExecutors{&pool_, &pool_}, options);
    HttpServerOptions port = InferencePortOptions(server_.get());
    port.address = "127.0.0.1";
    auto listening = HttpServer::Start(port, frontend_.get());
    ASSERT_TRUE(listening.ok()) << listening.status();
    http_ = *std::move(listening);
  }

  std::filesystem::path repository_;
  ThreadPool pool_{ThreadPoolOptions()};
  // Destroyed in reverse order.
  Server::Owner server_;
  std::unique_ptr<HttpFrontend> frontend_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_TESTING_SERVED_MODELS_H_
