// SPDX-License-Identifier: Apache-2.0
// The port of Vertex AI over real sockets, with a real server and the identity backend.
#include "frontends/http/cloud/vertex_ai_frontend.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "frontends/http/cloud/binary_mime.h"
#include "frontends/http/metrics_endpoint.h"
#include "frontends/http/transport/testing/loopback_client.h"

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr char kEchoConfig[] = R"(
backend: "identity"
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
)";
constexpr char kJsonRequest[] =
    R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1],"data":[3]}]})";
constexpr char kRedirect[] = "X-Vertex-Ai-Triton-Redirect";

class VertexAiFrontendTest : public testing::Test {
 protected:
  void Start(const std::vector<std::string>& models, HttpFrontendOptions options = {}) {
    directory_ = testing::TempDir() + "vertex_ai_test.XXXXXX";
    ASSERT_NE(::mkdtemp(directory_.data()), nullptr);
    for (const std::string& model : models) {
      std::filesystem::create_directories(std::filesystem::path(directory_) / model / "1");
      std::ofstream(std::filesystem::path(directory_) / model / "config.pbtxt") << kEchoConfig;
    }
    ServerOptions server_options;
    server_options.model_repositories = {directory_};
    server_options.backend_directory = NEREID_TEST_BACKENDS;
    auto server = Server::Create(server_options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    rest_ = std::make_unique<HttpFrontend>(server_.get(), HttpExecutors{&admin_, &admin_}, options);
    metrics_ = std::make_unique<MetricsEndpoint>(server_.get(), &admin_, CorsPolicy::Unchecked());
    frontend_ = std::make_unique<VertexAiFrontend>(rest_.get(), metrics_.get(),
                                                   VertexAiRoutes{"/predict", "/health"}, "echo");
    HttpServerOptions http = InferencePortOptions(server_.get());
    http.address = "127.0.0.1";
    http.body_split_header = "Content-Type";
    http.body_split_prefix = kVertexAiMime;
    auto port = HttpServer::Start(http, frontend_.get());
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
  }

  void TearDown() override {
    port_.reset();
    (void)admin_.End(Clock::Real()->Now() + std::chrono::seconds(10));
    if (server_ != nullptr) {
      EXPECT_TRUE(server_->Stop().ok());
    }
    frontend_.reset();
    metrics_.reset();
    rest_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  ReceivedResponse Send(const std::string& method, const std::string& path,
                        const std::string& headers = "", const std::string& body = "") {
    return LoopbackClient(port_->port())
        .RoundTrip(absl::StrCat(method, " ", path, " HTTP/1.1\r\n", headers,
                                "Content-Length: ", body.size(), "\r\n\r\n", body));
  }
  ReceivedResponse Redirect(const std::string& path, const std::string& body = "",
                            const std::string& headers = "") {
    return Send("POST", "/predict", absl::StrCat(kRedirect, ": ", path, "\r\n", headers), body);
  }

  std::string directory_;
  Server::Owner server_;
  ThreadPool admin_{ThreadPoolOptions()};
  std::unique_ptr<HttpFrontend> rest_;
  std::unique_ptr<MetricsEndpoint> metrics_;
  std::unique_ptr<VertexAiFrontend> frontend_;
  std::unique_ptr<HttpServer> port_;
};

TEST_F(VertexAiFrontendTest, HealthIsAStatusWithoutABody) {
  Start({"echo"});
  const auto ready = Send("GET", "/health");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.body, "");
  EXPECT_EQ(Send("POST", "/health").status, 405);
}

TEST_F(VertexAiFrontendTest, PagesOfOtherOriginsAreRefused) {
  Start({"echo"});
  const std::string from = "Origin: http://evil.example\r\n";
  for (const char* path : {"/health", "/predict", "/other"}) {
    EXPECT_EQ(Send("POST", path, from, kJsonRequest).status, 403) << path;
  }
  EXPECT_EQ(Redirect("metrics", "", from).status, 403);
}

TEST_F(VertexAiFrontendTest, APredictionIsAnInferenceWithTheDefaultModel) {
  Start({"echo", "other"});
  const auto answer = Send("POST", "/predict", "", kJsonRequest);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("model_name":"echo")"));
  EXPECT_EQ(answer.Header("content-type"), "application/json");
  EXPECT_EQ(Send("GET", "/predict").status, 405);
}

TEST_F(VertexAiFrontendTest, BinaryTensorsAreToldByTheContentType) {
  Start({"echo"});
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"INPUT0","datatype":"FP32",)"
      R"("shape":[1],"parameters":{"binary_data_size":4}}]})";
  const auto answer =
      Send("POST", "/predict", absl::StrCat("Content-Type: ", kVertexAiMime, json.size(), "\r\n"),
           json + "abcd");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.Header("content-type"), "application/octet-stream");
  EXPECT_EQ(answer.Header("inference-header-content-length"), absl::StrCat(answer.body.size() - 4));
  EXPECT_EQ(answer.body.substr(answer.body.size() - 4), "abcd");
  const auto too_long = Send(
      "POST", "/predict", absl::StrCat("Content-Type: ", kVertexAiMime, "9999\r\n"), json + "abcd");
  EXPECT_EQ(too_long.status, 400);
  EXPECT_THAT(too_long.body, HasSubstr("inference header size should be in range (0, "));
}

TEST_F(VertexAiFrontendTest, Redirections) {
  Start({"echo", "other"});
  for (const char* path : {"metrics", "v2", "v2/health/live", "v2/health/ready", "v2/models/stats",
                           "v2/models/other", "v2/models/other/versions/1", "v2/models/other/ready",
                           "v2/models/other/config", "v2/models/other/versions/1/stats",
                           "v2/systemsharedmemory/status", "v2/repository/index"}) {
    EXPECT_EQ(Redirect(path).status, 200) << path;
  }
  EXPECT_THAT(Redirect("v2/models/other/infer", kJsonRequest).body,
              HasSubstr(R"("model_name":"other")"));
  EXPECT_THAT(Redirect("metrics").body, HasSubstr("nv_inference_request_success"));
  for (const char* path :
       {"v2/systemsharedmemory/region/r/register", "v2/systemsharedmemory/unregister",
        "v2/cudasharedmemory/region/r/unregister", "v2/repository/models/other/unload",
        "v2/repository/r/models/other/load"}) {
    EXPECT_EQ(Redirect(path, "{}").status, 403) << path;
  }
  for (const char* path :
       {"", "x", "/v2", "v2/logging", "v2/trace/setting", "v2/models/other?/ready",
        "v2/models/other/generate", "v2/health/ready/"}) {
    const auto refusal = Redirect(path);
    EXPECT_EQ(refusal.status, 400) << path;
    EXPECT_EQ(refusal.body, "") << path;
  }
  EXPECT_EQ(Send("GET", "/predict", absl::StrCat(kRedirect, ": v2\r\n")).status, 405);
}

TEST_F(VertexAiFrontendTest, OtherPathsAreRefused) {
  Start({"echo"});
  for (const char* path : {"/", "/v2", "/predict/", "/metrics"}) {
    const auto refusal = Send("GET", path);
    EXPECT_EQ(refusal.status, 400) << path;
    EXPECT_EQ(refusal.body, "") << path;
  }
}

TEST_F(VertexAiFrontendTest, RestrictionsHoldHereToo) {
  RestrictedApis restricted;
  ASSERT_TRUE(
      restricted.Add("inference,statistics:my-key=secret", {"--http-restricted-api", "api"}).ok());
  HttpFrontendOptions options;
  options.access = AccessControl(restricted, "", "API", nullptr);
  Start({"echo"}, options);
  EXPECT_EQ(Send("GET", "/health").status, 200);
  EXPECT_EQ(Redirect("v2/health/live").status, 200);
  EXPECT_EQ(Send("POST", "/predict", "", kJsonRequest).status, 403);
  EXPECT_EQ(Redirect("v2/models/echo/infer", kJsonRequest).status, 403);
  EXPECT_EQ(Redirect("metrics").status, 403);
  const std::string key = "my-key: secret\r\n";
  EXPECT_EQ(Send("POST", "/predict", key, kJsonRequest).status, 200);
  EXPECT_EQ(Redirect("metrics", "", key).status, 200);
}

TEST_F(VertexAiFrontendTest, TheDefaultModel) {
  Start({"echo"});
  EXPECT_EQ(*FindDefaultModel(*server_, ""), "echo");
  EXPECT_EQ(*FindDefaultModel(*server_, "echo"), "echo");
  EXPECT_EQ(FindDefaultModel(*server_, "other").status(),
            absl::InvalidArgumentError("Expect the default model 'other' is loaded"));
}

TEST_F(VertexAiFrontendTest, OfSeveralModelsNoneIsTheDefault) {
  Start({"echo", "other"});
  EXPECT_EQ(*FindDefaultModel(*server_, "other"), "other");
  EXPECT_THAT(std::string(FindDefaultModel(*server_, "").status().message()),
              HasSubstr("only a single model if default model is not specified"));
}

}  // namespace
}  // namespace nereid
