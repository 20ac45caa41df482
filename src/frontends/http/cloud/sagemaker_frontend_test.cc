// SPDX-License-Identifier: Apache-2.0
// The port of SageMaker over real sockets, with a real server and the identity backend.
#include "frontends/http/cloud/sagemaker_frontend.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "frontends/http/cloud/binary_mime.h"
#include "frontends/http/cloud/model_archive.h"
#include "frontends/http/transport/testing/loopback_client.h"

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr char kIdentityConfig[] = R"(
backend: "identity"
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
)";
constexpr char kEnsembleConfig[] = R"(
platform : "ensemble"
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
ensemble_scheduling { step { model_name: "member" model_version: -1
  input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "OUTPUT0" } } }
)";
constexpr char kInferRequest[] =
    R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1],"data":[3]}]})";

class SagemakerFrontendTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "sagemaker_test.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = std::filesystem::canonical(name);
    AddModel("repository/echo", kIdentityConfig);
  }

  void Start(SagemakerOptions options, HttpFrontendOptions rest = {}) {
    ServerOptions server_options;
    server_options.model_repositories = {directory_ / "repository"};
    server_options.backend_directory = NEREID_TEST_BACKENDS;
    server_options.control_mode = ModelControlMode::kExplicit;
    server_options.startup_models = {"echo"};
    auto server = Server::Create(server_options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    rest_ = std::make_unique<HttpFrontend>(server_.get(), HttpExecutors{&admin_, &admin_}, rest);
    frontend_ = std::make_unique<SagemakerFrontend>(server_.get(), rest_.get(), &admin_, options);
    HttpServerOptions http = InferencePortOptions(server_.get());
    http.address = "127.0.0.1";
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
    rest_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::string AddModel(const std::string& folder, const std::string& config) {
    std::filesystem::create_directories(directory_ / folder / "1");
    std::ofstream(directory_ / folder / "config.pbtxt") << config;
    return (directory_ / folder).string();
  }
  ReceivedResponse Send(const std::string& method, const std::string& path,
                        const std::string& body = "", const std::string& headers = "") {
    return LoopbackClient(port_->port())
        .RoundTrip(absl::StrCat(method, " ", path, " HTTP/1.1\r\n", headers,
                                "Content-Length: ", body.size(), "\r\n\r\n", body));
  }
  ReceivedResponse Load(const std::string& name, const std::string& url,
                        const std::string& headers = "") {
    return Send("POST", "/models",
                absl::StrCat(R"({"model_name":")", name, R"(","url":")", url, "\"}"), headers);
  }

  std::filesystem::path directory_;
  Server::Owner server_;
  ThreadPool admin_{ThreadPoolOptions()};
  std::unique_ptr<HttpFrontend> rest_;
  std::unique_ptr<SagemakerFrontend> frontend_;
  std::unique_ptr<HttpServer> port_;
};

TEST_F(SagemakerFrontendTest, PingIsAStatusWithoutABody) {
  Start({});
  const auto ping = Send("GET", "/ping");
  EXPECT_EQ(ping.status, 200);
  EXPECT_EQ(ping.body, "");
  EXPECT_EQ(Send("POST", "/ping").status, 405);
  for (const char* path : {"/", "/v2", "/modelsx", "/models/a/b", "/models//invoke"}) {
    EXPECT_EQ(Send("GET", path).status, 400) << path;
  }
}

TEST_F(SagemakerFrontendTest, PagesOfOtherOriginsAreRefused) {
  Start({"echo"});
  for (const char* path : {"/ping", "/invocations", "/models", "/models/echo/invoke", "/other"}) {
    EXPECT_EQ(Send("POST", path, "{}", "Origin: http://evil.example\r\n").status, 403) << path;
  }
}

TEST_F(SagemakerFrontendTest, InvocationsUseTheDefaultModel) {
  Start({"echo"});
  const auto answer = Send("POST", "/invocations", kInferRequest);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("model_name":"echo")"));
  EXPECT_EQ(Send("GET", "/invocations").status, 405);
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"INPUT0","datatype":"FP32",)"
      R"("shape":[1],"parameters":{"binary_data_size":4}}]})";
  const auto binary = Send("POST", "/invocations", json + "abcd",
                           absl::StrCat("Content-Type: ", kSagemakerMime, json.size(), "\r\n"));
  EXPECT_EQ(binary.status, 200) << binary.body;
  EXPECT_EQ(binary.Header("content-type"), absl::StrCat(kSagemakerMime, binary.body.size() - 4));
}

TEST_F(SagemakerFrontendTest, WithoutADefaultModelInvocationsAreRefused) {
  Start({});
  const auto refusal = Send("POST", "/invocations", kInferRequest);
  EXPECT_EQ(refusal.status, 400);
  EXPECT_THAT(refusal.body, HasSubstr("SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"));
}

TEST_F(SagemakerFrontendTest, InvocationsMayBeOfGenerate) {
  Start({"echo", "generate"});
  EXPECT_THAT(Send("POST", "/invocations", R"({"INPUT0":5})").body, HasSubstr(R"("OUTPUT0":5)"));
}

TEST_F(SagemakerFrontendTest, TheLifeOfAModel) {
  Start({});
  const std::string url = AddModel("archive/model", kIdentityConfig);
  EXPECT_EQ(Send("GET", "/models").body, R"({"models":[]})");
  EXPECT_EQ(Send("POST", "/models/m1/invoke", kInferRequest).status, 404);
  const auto loaded = Load("m1", url, "X-Amzn-SageMaker-Target-Model: one.tar.gz\r\n");
  ASSERT_EQ(loaded.status, 200) << loaded.body;
  const std::string entry = absl::StrCat(R"({"modelName":"m1","modelUrl":")", url, "\"}");
  EXPECT_EQ(Send("GET", "/models/").body, absl::StrCat(R"({"models":[)", entry, "]}"));
  EXPECT_EQ(Send("GET", "/models/m1").body, entry);
  const auto invoked = Send("POST", "/models/m1/invoke", kInferRequest);
  EXPECT_EQ(invoked.status, 200) << invoked.body;
  EXPECT_THAT(invoked.body, HasSubstr(R"("model_name":"one.tar.gz")"));
  EXPECT_EQ(Load("m1", url).status, 409);
  EXPECT_EQ(Load("m2", url).status, 409);  // the same folder
  EXPECT_EQ(Send("DELETE", "/models/m1").status, 200);
  EXPECT_EQ(Send("DELETE", "/models/m1").status, 404);
  EXPECT_EQ(Send("GET", "/models/m1").status, 404);
  EXPECT_EQ(Load("m1", url, "X-Amzn-SageMaker-Target-Model: folder/one.tar.gz\r\n").status, 200);
  EXPECT_THAT(Send("POST", "/models/m1/invoke", kInferRequest).body,
              HasSubstr(R"("model_name":"m1")"));
}

TEST_F(SagemakerFrontendTest, AnArchiveWithAnEnsemble) {
  Start({});
  AddModel("archive/model/member", kIdentityConfig);
  AddModel("archive/model/all", kEnsembleConfig);
  const auto loaded = Load("m", (directory_ / "archive/model").string());
  ASSERT_EQ(loaded.status, 200) << loaded.body;
  EXPECT_EQ(Send("POST", "/models/m/invoke", kInferRequest).status, 200);
  EXPECT_EQ(Send("DELETE", "/models/m").status, 200);
  EXPECT_FALSE(server_->IsModelReady("member", -1).value_or(false));
}

TEST_F(SagemakerFrontendTest, BadLoads) {
  Start({});
  const std::string bad = AddModel("bad/model", "backend: \"there_is_none\"");
  EXPECT_EQ(Load("bad", bad).status, 400);
  EXPECT_EQ(Send("GET", "/models/bad").status, 404);
  EXPECT_EQ(Load("bad", bad).status, 400);  // the folder is free again
  EXPECT_EQ(Load("m", "relative").status, 400);
  EXPECT_EQ(Load("m", "/proc/self").status, 400);
  EXPECT_EQ(Load("m", (directory_ / "missing").string()).status, 400);
  EXPECT_EQ(Send("POST", "/models", "{}").status, 400);
  EXPECT_EQ(Send("POST", "/models", std::string(100'000, ' ')).status, 400);
  EXPECT_EQ(Send("DELETE", "/models").status, 405);
  EXPECT_EQ(Send("POST", "/models/m").status, 405);
  EXPECT_EQ(Send("GET", "/models/m/invoke").status, 405);
}

TEST_F(SagemakerFrontendTest, RestrictionsHoldHereToo) {
  RestrictedApis restricted;
  ASSERT_TRUE(
      restricted.Add("inference,model-repository:my-key=secret", {"--http-restricted-api", "api"})
          .ok());
  HttpFrontendOptions rest;
  rest.access = AccessControl(restricted, "", "API", nullptr);
  Start({"echo"}, rest);
  EXPECT_EQ(Send("GET", "/ping").status, 200);
  for (const char* path : {"/models", "/models/m"}) EXPECT_EQ(Send("GET", path).status, 403);
  EXPECT_EQ(Send("DELETE", "/models/m").status, 403);
  EXPECT_EQ(Send("POST", "/models/m/invoke").status, 403);
  EXPECT_EQ(Send("POST", "/models", "{}").status, 403);
  EXPECT_EQ(Send("POST", "/invocations", kInferRequest).status, 403);
  const std::string key = "my-key: secret\r\n";
  EXPECT_EQ(Send("GET", "/models", "", key).status, 200);
  EXPECT_EQ(Send("POST", "/invocations", kInferRequest, key).status, 200);
}

TEST_F(SagemakerFrontendTest, WhereTheModelOfAnArchiveLies) {
  const auto find = [&](const std::string& path) {
    return FindArchiveModel((directory_ / path).string());
  };
  AddModel("one/model/name", kIdentityConfig);
  EXPECT_EQ(find("one/model")->repository, directory_ / "one/model");
  EXPECT_EQ(find("one/model/")->folder, "name");
  EXPECT_EQ(find("one/model/name")->repository, directory_ / "one/model");
  EXPECT_EQ(find("one/model/name")->folder, "name");
  AddModel("two/a", kIdentityConfig);
  AddModel("two/b", kIdentityConfig);
  EXPECT_THAT(std::string(find("two").status().message()), HasSubstr("not one ensemble"));
  std::filesystem::create_directories(directory_ / "empty");
  EXPECT_THAT(std::string(find("empty").status().message()), HasSubstr("holds no model"));
  std::filesystem::create_directory_symlink("/proc/self", directory_ / "link");
  EXPECT_THAT(std::string(find("link").status().message()), HasSubstr("/proc/"));
}

TEST(SagemakerModelsTest, MessagesAboutMemory) {
  for (const char* text : {"CUDA out of memory.", "CUDA_OUT_OF_MEMORY", "Out of memory: x", "OOM",
                           "std::bad_alloc", "CUBLAS_STATUS_ALLOC_FAILED", "MemoryError"}) {
    EXPECT_TRUE(TellsWantOfMemory(text)) << text;
  }
  EXPECT_FALSE(TellsWantOfMemory("there is no room for it"));
}

}  // namespace
}  // namespace nereid
