// SPDX-License-Identifier: Apache-2.0
// The endpoints over real sockets, with a real server and the identity backend.
#include "frontends/http/http_frontend.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/door.h"
#include "frontends/codec/compression_testing.h"
#include "frontends/http/metrics_endpoint.h"
#include "frontends/http/testing/served_models.h"

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr char kEchoConfig[] = R"(
backend: "identity"
max_batch_size: 8
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 4 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 4 ] } ]
)";
// A model that is slow enough for a client to leave while its request runs.
constexpr char kSlowConfig[] = R"(
backend: "identity"
max_batch_size: 0
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
parameters { key: "execute_delay_ms" value { string_value: "100" } }
)";
constexpr char kDecoupledConfig[] = R"(
backend: "identity"
model_transaction_policy { decoupled: true }
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
)";

constexpr char kJsonRequest[] =
    R"({"id":"7","inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}]})";

class HttpFrontendTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    HttpFrontendOptions frontend;
    frontend.limits.max_input_size = 1 << 20;
    served_ = new ServedModels(
        {{"echo", kEchoConfig}, {"slow", kSlowConfig}, {"decoupled", kDecoupledConfig}}, frontend);
  }
  static void TearDownTestSuite() { delete served_; }

  static ReceivedResponse Get(const std::string& path) { return served_->Get(path); }
  static ReceivedResponse Post(const std::string& path, const std::string& body,
                               const std::string& headers = "") {
    return served_->Post(path, body, headers);
  }

  static ServedModels* served_;
};
ServedModels* HttpFrontendTest::served_ = nullptr;

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

// A request whose head is there and whose body is not.
std::unique_ptr<HttpRequest> Head(HttpMethod method, const std::string& path,
                                  const std::string& key) {
  const auto size = static_cast<uint32_t>(path.size());
  const HttpRequest::HeaderRange header = {{size, 3},
                                           {size + 3, static_cast<uint32_t>(key.size())}};
  return std::make_unique<HttpRequest>(absl::StrCat(path, "key", key), method,
                                       HttpRequest::Range{0, size}, absl::MakeSpan(&header, 1));
}

// Over all rows of the table, so that it holds for a new one, too.
TEST_F(HttpFrontendTest, WhatTheHeadDecidesIsDecidedBeforeTheBody) {
  std::vector<absl::string_view> groups;
  for (size_t i = 0; i < kApiGroups; ++i) groups.push_back(ApiGroupName(static_cast<ApiGroup>(i)));
  RestrictedApis restricted;
  ASSERT_TRUE(restricted
                  .Add(absl::StrCat(absl::StrJoin(groups, ","), ":key=good"),
                       {"--http-restricted-api", "api"})
                  .ok());
  HttpFrontendOptions options;
  options.access = AccessControl(restricted, "", "API", nullptr);
  HttpFrontend frontend(served_->server(), {served_->pool(), served_->pool()}, options);
  EXPECT_FALSE(frontend.OnHead(Head(HttpMethod::kPost, "/nope", "good").get()).takes_body);
  for (const HttpRoute& route : AllRoutes()) {
    const std::string path = absl::StrReplaceAll(
        route.pattern, {{"[", ""}, {"]", ""}, {"{", ""}, {"}", ""}, {"{version}", "1"}});
    for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kHead, HttpMethod::kPost,
                                    HttpMethod::kDelete, HttpMethod::kOptions}) {
      EXPECT_FALSE(frontend.OnHead(Head(method, path, "bad").get()).takes_body) << path;
      const auto request = Head(method, path, "good");
      const HeadVerdict verdict = frontend.OnHead(request.get());
      const bool allowed = IsMethodAllowed(route.methods, method);
      EXPECT_EQ(request->route().has_value(), allowed) << path;
      EXPECT_EQ(verdict.takes_body, allowed && method == HttpMethod::kPost) << path;
      const bool is_input = route.group == ApiGroup::kInference;
      const bool is_load = absl::EndsWith(route.pattern, "/load");
      if (verdict.takes_body && !is_input && !is_load) {
        EXPECT_EQ(verdict.limit.bytes, uint64_t{1} << 20) << path;
      }
    }
  }
}

TEST_F(HttpFrontendTest, RoutesSayWhatTheyTake) {
  const auto announce = [](const std::string& path, uint64_t size) {
    return served_->Connect().RoundTrip(
        absl::StrCat("POST ", path, " HTTP/1.1\r\nContent-Length: ", size, "\r\n\r\n"));
  };
  const ReceivedResponse logging = announce("/v2/logging", 2 << 20);
  EXPECT_EQ(logging.status, 413);
  EXPECT_THAT(logging.body, HasSubstr("request body of 2097152 bytes exceeds the maximum of "
                                      "1048576 bytes of this route. Use --max-admin-body-bytes"));
  const ReceivedResponse generate = announce("/v2/models/echo/generate", 2 << 20);
  EXPECT_EQ(generate.status, 400);
  EXPECT_THAT(generate.body, HasSubstr("request JSON size of 2097152 bytes exceeds the maximum "
                                       "allowed input size of 1048576 bytes"));
  EXPECT_EQ(announce("/nope", 100 << 20).status, 404);
}

TEST_F(HttpFrontendTest, Health) {
  const std::string model = R"({"name":"echo","ready":true})";
  for (const auto& [path, body] :
       {std::pair<const char*, std::string>{"/v2/health/live", R"({"live":true})"},
        {"/v2/health/ready", R"({"ready":true})"},
        {"/v2/models/echo/ready", model},
        {"/v2/models/ec%68o/versions/1/ready", model}}) {
    const auto response = Get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, body) << path;
  }
}

TEST_F(HttpFrontendTest, Metadata) {
  const auto server = Get("/v2");
  EXPECT_EQ(server.Header("content-type"), "application/json");
  EXPECT_THAT(server.body, HasSubstr(R"("extensions":[)"));
  const auto model = Get("/v2/models/echo");
  EXPECT_EQ(model.status, 200);
  EXPECT_THAT(model.body, HasSubstr(R"("versions":["1"])"));
  EXPECT_THAT(model.body, HasSubstr(R"({"name":"INPUT0","datatype":"FP32","shape":[-1,4]})"));
  EXPECT_THAT(Get("/v2/models/echo/config").body, HasSubstr(R"("max_batch_size":8)"));
}

TEST_F(HttpFrontendTest, LookUpErrors) {
  for (const char* path : {"/v2/models/none", "/v2/models/none/config", "/v2/models/none/ready"}) {
    const auto response = Get(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(response.body, R"({"error":"Request for unknown model: 'none' is not found"})");
  }
  EXPECT_EQ(Get("/v2/models/echo/versions/9").body,
            R"({"error":"Request for unknown model: 'echo' version 9 is not found"})");
  EXPECT_EQ(Get("/v2/models/echo/versions/99999999999999999999").status, 400);
  EXPECT_EQ(Post("/v2/models/none/infer", kJsonRequest).status, 404);
}

TEST_F(HttpFrontendTest, WrongPathsAndMethods) {
  const auto unknown = Get("/v2/nothing");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, R"({"error":"Not Found"})");
  const auto wrong = Get("/v2/models/echo/infer");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.body, R"({"error":"Method Not Allowed"})");
  EXPECT_EQ(wrong.Header("allow"), "POST");
  EXPECT_EQ(Post("/v2/health/live", "").Header("allow"), "GET, HEAD");
}

TEST_F(HttpFrontendTest, LogSettings) {
  EXPECT_THAT(Get("/v2/logging").body,
              HasSubstr(R"("log_verbose_level":0,"log_format":"default"})"));
  const auto changed = Post("/v2/logging", R"({"log_warning":false})");
  EXPECT_EQ(changed.status, 200);
  EXPECT_THAT(changed.body, HasSubstr(R"("log_info":true,"log_warning":false,)"));
  EXPECT_EQ(Get("/v2/logging").body, changed.body);
  EXPECT_EQ(Post("/v2/logging", R"({"log_file":"x"})").status, 501);
  EXPECT_EQ(Post("/v2/logging", R"({"log_format":"nice"})").status, 503);
  EXPECT_EQ(Post("/v2/logging", "").status, 400);
  EXPECT_TRUE(Log::Configure(LogSettings()).ok());
}

TEST_F(HttpFrontendTest, RepositoryIndex) {
  const auto all = Post("/v2/repository/index", "");
  EXPECT_EQ(all.status, 200);
  EXPECT_THAT(all.body, HasSubstr(R"({"name":"echo","version":"1","state":"READY"})"));
  EXPECT_EQ(Post("/v2/repository/any/index", R"({"ready":true})").status, 200);
  const auto refused = Post("/v2/repository/index", R"({"ready":"x"})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body, R"({"error":"Invalid value for 'ready': expected a boolean"})");
}

TEST_F(HttpFrontendTest, InfersJson) {
  const auto response = Post("/v2/models/echo/infer", kJsonRequest);
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.Header("content-type"), "application/json");
  EXPECT_EQ(response.Header("inference-header-content-length"), "");
  EXPECT_EQ(response.body,
            R"({"id":"7","model_name":"echo","model_version":"1","outputs":[{"name":"OUTPUT0",)"
            R"("datatype":"FP32","shape":[1,4],"data":[1.0,2.0,3.0,4.0]}]})");
}

TEST_F(HttpFrontendTest, InfersBinary) {
  const std::string json = R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[2,4],)"
                           R"("parameters":{"binary_data_size":32}}],)"
                           R"("outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})";
  const std::string tensor = Floats({1, 2, 3, 4, 5, 6, 7, 8});
  const auto response =
      Post("/v2/models/echo/versions/1/infer", json + tensor,
           absl::StrCat("Inference-Header-Content-Length: ", json.size(), "\r\n"));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.Header("content-type"), "application/octet-stream");
  const std::string& body = response.body;
  ASSERT_GE(body.size(), tensor.size());
  EXPECT_EQ(response.Header("inference-header-content-length"),
            absl::StrCat(body.size() - tensor.size()));
  EXPECT_TRUE(body.substr(body.size() - tensor.size()) == tensor);
  EXPECT_THAT(body, HasSubstr(R"("parameters":{"binary_data_size":32})"));
}

TEST_F(HttpFrontendTest, CompressesBothWays) {
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    const std::string name = ContentCodingName(coding);
    const auto response =
        Post("/v2/models/echo/infer", *Compress(coding, {kJsonRequest}),
             absl::StrCat("Content-Encoding: ", name, "\r\nAccept-Encoding: ", name, "\r\n"));
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.Header("content-encoding"), name);
    const auto plain = DecompressToString(coding, response.body, 1 << 20);
    ASSERT_TRUE(plain.ok()) << plain.status();
    EXPECT_THAT(*plain, HasSubstr(R"("data":[1.0,2.0,3.0,4.0])"));
  }
  const auto unknown = Post("/v2/models/echo/infer", "x", "Content-Encoding: br\r\n");
  EXPECT_EQ(unknown.status, 501);
  EXPECT_EQ(unknown.body, R"({"error":"Unsupported compression type"})");
  EXPECT_EQ(unknown.Header("accept-encoding"), "gzip, deflate");
  const auto large =
      Post("/v2/models/echo/infer", *Compress(ContentCoding::kGzip, {std::string(2 << 20, ' ')}),
           "Content-Encoding: gzip\r\n");
  EXPECT_EQ(large.status, 400);
  EXPECT_THAT(large.body, HasSubstr("Decompressed data size exceeds the maximum allowed value of "
                                    "1048576 bytes. Use --http-max-input-size"));
}

TEST_F(HttpFrontendTest, MistakesOfTheClientAre400) {
  for (const char* body : {"", "{", "{}", R"({"inputs":[]})"}) {
    EXPECT_EQ(Post("/v2/models/echo/infer", body).status, 400) << body;
  }
  EXPECT_EQ(Post("/v2/models/echo/infer", "{}", "Inference-Header-Content-Length: x\r\n").body,
            R"({"error":"Unable to parse Inference-Header-Content-Length, got: x"})");
  EXPECT_EQ(Post("/v2/models/echo/infer", "{}", "Inference-Header-Content-Length: 3\r\n").body,
            R"({"error":"inference header size should be in range (0, 2), got: 3"})");
}

TEST_F(HttpFrontendTest, DecoupledModelsAreRefused) {
  const auto response = Post("/v2/models/decoupled/infer", kJsonRequest);
  EXPECT_EQ(response.status, 501);
  EXPECT_EQ(
      response.body,
      R"({"error":"HTTP end point doesn't support models with decoupled transaction policy"})");
}

TEST_F(HttpFrontendTest, LeavingClientDoesNoHarm) {
  const std::string request =
      R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[2],"data":[1,2]}]})";
  {
    LoopbackClient client = served_->Connect();
    client.Send(absl::StrCat("POST /v2/models/slow/infer HTTP/1.1\r\nContent-Length: ",
                             request.size(), "\r\n\r\n", request));
    client.Reset();
  }
  EXPECT_EQ(Post("/v2/models/slow/infer", request).status, 200);
  EXPECT_EQ(Post("/v2/models/echo/infer", kJsonRequest).status, 200);
}

TEST_F(HttpFrontendTest, Statistics) {
  ASSERT_EQ(Post("/v2/models/echo/infer", kJsonRequest).status, 200);
  const auto one = Get("/v2/models/echo/versions/1/stats");
  EXPECT_EQ(one.status, 200);
  EXPECT_THAT(one.body, HasSubstr(R"({"model_stats":[{"name":"echo","version":"1",)"));
  EXPECT_THAT(Get("/v2/models/stats").body, HasSubstr(R"("name":"slow")"));
  const auto unknown = Get("/v2/models/none/stats");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(unknown.body, R"({"error":"requested model 'none' is not available"})");
}

TEST_F(HttpFrontendTest, PagesOfOtherOriginsAreRefused) {
  const std::string from = "Origin: http://evil.example\r\n";
  for (const char* path : {"/v2/models/echo/infer", "/v2/logging", "/v2/nothing", "/"}) {
    const auto refused = Post(path, kJsonRequest, from);
    EXPECT_EQ(refused.status, 403) << path;
    EXPECT_THAT(refused.body, HasSubstr("--http-allow-origin=http://evil.example")) << path;
  }
  // A page whose own name was pointed at this machine.
  EXPECT_EQ(Post("/v2/logging", "{}", absl::StrCat("Host: evil.example\r\n", from)).status, 403);
  const std::string own = "Host: localhost:8000\r\nOrigin: http://localhost:8000\r\n";
  EXPECT_EQ(Post("/v2/models/echo/infer", kJsonRequest, own).status, 200);
}

TEST_F(HttpFrontendTest, MetricsPort) {
  MetricsEndpoint handler(served_->server(), served_->pool(), CorsPolicy());
  HttpServerOptions options;
  options.address = "127.0.0.1";
  auto listening = HttpServer::Start(options, &handler);
  ASSERT_TRUE(listening.ok()) << listening.status();
  LoopbackClient client((*listening)->port());
  for (const char* path : {"/metrics", "/metrics/"}) {
    const auto metrics = client.RoundTrip(absl::StrCat("GET ", path, " HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(metrics.status, 200);
    EXPECT_EQ(metrics.Header("content-type"), "text/plain; charset=utf-8");
    EXPECT_THAT(metrics.body, HasSubstr("nv_inference_request_success"));
  }
  const auto other = client.RoundTrip("GET /other HTTP/1.1\r\n\r\n");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.body, "");
  EXPECT_EQ(client.RoundTrip("GET /metrics HTTP/1.1\r\nOrigin: http://evil.example\r\n\r\n").status,
            403);
  const auto post = client.RoundTrip("POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.body, R"({"error":"Method Not Allowed"})");
}

// A server with one I/O thread, whose administration hangs.
class HungAdministrationTest : public HttpFrontendTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < kThreads; ++i) {
      ASSERT_TRUE(admin_.TryRun([this] { door_.Pass(); }));
    }
    door_.AwaitWaiting(kThreads);
    HttpServerOptions options = InferencePortOptions(served_->server());
    options.address = "127.0.0.1";
    auto listening = HttpServer::Start(options, &handler_);
    ASSERT_TRUE(listening.ok()) << listening.status();
    http_ = *std::move(listening);
  }
  void TearDown() override {
    door_.Open();
    http_.reset();
    EXPECT_TRUE(admin_.End(TimePoint::max()));
  }

  static constexpr int kThreads = 2;
  static constexpr size_t kMaxWaiting = 3;

  Door door_;
  ThreadPool admin_{ThreadPoolOptions{"admin", kThreads, kThreads, kMaxWaiting}};
  HttpFrontend handler_{served_->server(), {&admin_, &admin_}};
  std::unique_ptr<HttpServer> http_;
};

TEST_F(HungAdministrationTest, HoldsUpNoProbeAndNoInference) {
  LoopbackClient index(http_->port());
  ASSERT_TRUE(index.Send("POST /v2/repository/index HTTP/1.1\r\nContent-Length: 0\r\n\r\n"));
  LoopbackClient gone(http_->port());
  ASSERT_TRUE(gone.Send("GET /v2/models/stats HTTP/1.1\r\n\r\n"));
  LoopbackClient other(http_->port());
  EXPECT_EQ(other.RoundTrip("GET /v2/health/ready HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(other.RoundTrip("GET /v2/models/echo/ready HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(other.RoundTrip("GET /v2 HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(other
                .RoundTrip(absl::StrCat("POST /v2/models/echo/infer HTTP/1.1\r\nContent-Length: ",
                                        sizeof(kJsonRequest) - 1, "\r\n\r\n", kJsonRequest))
                .status,
            200);
  gone.Reset();
  door_.Open();
  EXPECT_THAT(index.Read().body, HasSubstr(R"("name":"echo")"));
}

TEST_F(HungAdministrationTest, IsRefusedWhenTooMuchWaits) {
  while (admin_.TryRun([] {})) {
  }
  LoopbackClient client(http_->port());
  const auto refused = client.RoundTrip("GET /v2/models/echo/config HTTP/1.1\r\n\r\n");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body,
            R"({"error":"too many administration requests at a time: try again later"})");
  EXPECT_EQ(client.RoundTrip("GET /v2/health/live HTTP/1.1\r\n\r\n").status, 200);
}

}  // namespace
}  // namespace nereid
