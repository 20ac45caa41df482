// SPDX-License-Identifier: Apache-2.0
// A server's life through the C API: start, reports, model control, stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Fails to load, because there is no such backend.
constexpr char kBrokenConfig[] = R"(backend: "no_such_backend"
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
)";

bool IsReady(const TestServer& server) {
  bool ready = false;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerIsReady(server.get(), &ready)));
  return ready;
}

bool IsModelReady(const TestServer& server, const char* model) {
  bool ready = false;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelIsReady(server.get(), model, -1, &ready)));
  return ready;
}

// Sends one element and expects it as the answer.
void ExpectAnswers(const TestServer& server, const char* model) {
  DiaryAllocator allocator;
  Call call(server, model, &allocator);
  call.AddFloats("INPUT0", {1, 1}, {3});
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr response = call.TakeResponse();
  EXPECT_EQ(Floats(Outputs(response).at(0)), std::vector<float>{3});
}

TEST(ServerStart, FreshOptionsAskForPolling) {
  Repository repository;
  TRITONSERVER_ServerOptions* options = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsNew(&options)));
  ASSERT_TRUE(
      Ok(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository.path().c_str())));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetBackendDirectory(options, NEREID_TEST_BACKENDS)));
  TRITONSERVER_Server* server = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerNew(&server, options)));
  repository.AddModel("late", IdentityConfig());
  bool ready = true;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerPollModelRepository(server)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelIsReady(server, "late", 1, &ready)));
  EXPECT_TRUE(ready);
  EXPECT_TRUE(Fails(TRITONSERVER_ServerLoadModel(server, "late"), TRITONSERVER_ERROR_UNAVAILABLE,
                    "explicit model load / unload is not allowed if polling is enabled"));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerDelete(server)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsDelete(options)));
}

TEST(ServerStart, NeedsARepositoryThatExists) {
  Repository repository;
  Options options(repository, TRITONSERVER_MODEL_CONTROL_NONE);
  const std::string nowhere = repository.path() + "/nowhere";
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options.get(), nowhere.c_str())));
  TRITONSERVER_Server* server = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerNew(&server, options.get()), TRITONSERVER_ERROR_INVALID_ARG,
                    "repository path is not a valid directory"));
}

TEST(ServerStart, WildcardStandsAlone) {
  Repository repository;
  Options options(repository, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "*")));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "id")));
  TRITONSERVER_Server* server = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerNew(&server, options.get()), TRITONSERVER_ERROR_INVALID_ARG,
                    "Wildcard model name '*' must be the ONLY startup model"));
}

TEST(ServerStart, ExitOnErrorDecidesWhatABrokenModelDoes) {
  Repository repository;
  repository.AddModel("id", IdentityConfig());
  repository.AddModel("broken", kBrokenConfig);
  Options options(repository, TRITONSERVER_MODEL_CONTROL_NONE);
  TRITONSERVER_Server* server = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerNew(&server, options.get()), TRITONSERVER_ERROR_INTERNAL,
                    "failed to load all models"));
  EXPECT_EQ(server, nullptr);

  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetExitOnError(options.get(), false)));
  {
    TestServer lenient(options);
    EXPECT_FALSE(IsReady(lenient)) << "strict readiness counts every model";
    EXPECT_TRUE(IsModelReady(lenient, "id"));
    EXPECT_THAT(lenient.Index(), AllOf(HasSubstr("\"UNAVAILABLE\""), HasSubstr("no_such_backend")));
    EXPECT_THAT(lenient.Index(TRITONSERVER_INDEX_FLAG_READY), Not(HasSubstr("broken")));
    ExpectAnswers(lenient, "id");
  }
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStrictReadiness(options.get(), false)));
  TestServer indulgent(options);
  EXPECT_TRUE(IsReady(indulgent));
}

TEST(ServerStart, RateLimiterAndHostPolicy) {
  Repository repository;
  repository.AddModel("id", IdentityConfig("instance_group { kind: KIND_CPU rate_limiter { "
                                           "resources { name: \"R\" count: 4 } } }\n"));
  Options options(repository, TRITONSERVER_MODEL_CONTROL_NONE);
  EXPECT_TRUE(Fails(TRITONSERVER_ServerOptionsSetRateLimiterMode(
                        options.get(), static_cast<TRITONSERVER_RateLimitMode>(7)),
                    TRITONSERVER_ERROR_INVALID_ARG, "unknown rate limit mode '7'"));
  EXPECT_TRUE(Fails(TRITONSERVER_ServerOptionsSetHostPolicy(options.get(), "cpu", "gpu", "0"),
                    TRITONSERVER_ERROR_UNSUPPORTED,
                    "Unsupported host policy setting 'gpu' is specified, supported settings are "
                    "'numa-node', 'cpu-cores'"));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetHostPolicy(options.get(), "p", "cpu-cores", "0")));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsAddRateLimiterResource(options.get(), "R", 4, -1)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetRateLimiterMode(options.get(),
                                                              TRITONSERVER_RATE_LIMIT_EXEC_COUNT)));
  {
    TestServer server(options);
    ExpectAnswers(server, "id");
    ExpectAnswers(server, "id");
  }
  // The smaller one of two counts applies.
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsAddRateLimiterResource(options.get(), "R", 3, -1)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsAddRateLimiterResource(options.get(), "R", 9, -1)));
  TRITONSERVER_Server* none = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerNew(&none, options.get()), TRITONSERVER_ERROR_INTERNAL,
                    "failed to load all models"));
  ASSERT_TRUE(
      Ok(TRITONSERVER_ServerOptionsSetRateLimiterMode(options.get(), TRITONSERVER_RATE_LIMIT_OFF)));
  TestServer server(options);
  ExpectAnswers(server, "id");
}

TEST(ServerStart, TwoServersLiveSideBySide) {
  Repository one;
  one.AddModel("first", IdentityConfig());
  Repository two;
  two.AddModel("second", IdentityConfig());
  TestServer a(one);
  TestServer b(two);
  ExpectAnswers(a, "first");
  ExpectAnswers(b, "second");
  EXPECT_THAT(a.Index(), Not(HasSubstr("second")));
}

TEST(ServerReports, HealthAndMetadata) {
  Repository repository;
  repository.AddModel("id", IdentityConfig("version_policy { all { } }\n"), {1, 2});
  TestServer server(repository);
  bool live = false;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerIsLive(server.get(), &live)));
  EXPECT_TRUE(live);
  EXPECT_TRUE(IsReady(server));
  EXPECT_TRUE(IsModelReady(server, "id"));
  bool ready = true;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerModelIsReady(server.get(), "nobody", -1, &ready),
                    TRITONSERVER_ERROR_NOT_FOUND, "'nobody' is not found"));

  TRITONSERVER_Message* message = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerMetadata(server.get(), &message)));
  EXPECT_THAT(TakeJson(message), AllOf(HasSubstr("\"name\":\"capi_test\""),
                                       HasSubstr("\"extensions\":[\"classification\"")));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelMetadata(server.get(), "id", -1, &message)));
  EXPECT_THAT(TakeJson(message),
              AllOf(HasSubstr("\"name\":\"id\",\"versions\":["),
                    HasSubstr("{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[-1,-1]}")));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelMetadata(server.get(), "id", 2, &message)));
  EXPECT_THAT(TakeJson(message), HasSubstr("\"versions\":[\"2\"]"));
  message = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerModelMetadata(server.get(), "nobody", -1, &message),
                    TRITONSERVER_ERROR_NOT_FOUND, "'nobody' is not found"));
  EXPECT_EQ(message, nullptr);
}

TEST(ServerReports, ModelConfigurationAndProperties) {
  Repository repository;
  repository.AddModel("id", IdentityConfig());
  repository.AddModel("flat", R"(backend: "identity"
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
model_transaction_policy { decoupled: true }
)");
  TestServer server(repository);
  TRITONSERVER_Message* message = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelConfig(server.get(), "id", 1, 1, &message)));
  EXPECT_THAT(TakeJson(message),
              AllOf(HasSubstr("\"name\":\"id\""), HasSubstr("\"max_batch_size\":8")));
  EXPECT_TRUE(Fails(TRITONSERVER_ServerModelConfig(server.get(), "id", 1, 2, &message),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "model configuration version 2 not supported, supported versions are: 1"));

  uint32_t flags = 0;
  void* voidp = &flags;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelBatchProperties(server.get(), "id", -1, &flags, &voidp)));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_BATCH_FIRST_DIM));
  EXPECT_EQ(voidp, nullptr);
  ASSERT_TRUE(
      Ok(TRITONSERVER_ServerModelBatchProperties(server.get(), "flat", -1, &flags, &voidp)));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_BATCH_UNKNOWN));
  ASSERT_TRUE(
      Ok(TRITONSERVER_ServerModelTransactionProperties(server.get(), "id", -1, &flags, &voidp)));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_TXN_ONE_TO_ONE));
  ASSERT_TRUE(
      Ok(TRITONSERVER_ServerModelTransactionProperties(server.get(), "flat", -1, &flags, &voidp)));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_TXN_DECOUPLED));
  EXPECT_TRUE(
      Fails(TRITONSERVER_ServerModelBatchProperties(server.get(), "nobody", -1, &flags, &voidp),
            TRITONSERVER_ERROR_NOT_FOUND, "'nobody' is not found"));
}

TEST(ServerReports, StatisticsIndexAndMetrics) {
  Repository repository;
  repository.AddModel("a", IdentityConfig());
  repository.AddModel("b", IdentityConfig());
  TestServer server(repository);
  ExpectAnswers(server, "a");
  EXPECT_THAT(server.Statistics("a"),
              AllOf(HasSubstr("\"name\":\"a\",\"version\":\"1\""),
                    HasSubstr("\"inference_count\":1"), HasSubstr("\"success\":{\"count\":1,")));
  EXPECT_THAT(server.Statistics(""),
              AllOf(HasSubstr("\"name\":\"a\""), HasSubstr("\"name\":\"b\"")));
  TRITONSERVER_Message* message = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerModelStatistics(server.get(), "nobody", -1, &message),
                    TRITONSERVER_ERROR_INVALID_ARG, "requested model 'nobody' is not available"));
  EXPECT_EQ(server.Index(),
            "[{\"name\":\"a\",\"version\":\"1\",\"state\":\"READY\"},"
            "{\"name\":\"b\",\"version\":\"1\",\"state\":\"READY\"}]");

  TRITONSERVER_Metrics* metrics = nullptr;
  const char* text = nullptr;
  size_t size = 0;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerMetrics(server.get(), &metrics)));
  ASSERT_TRUE(
      Ok(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &text, &size)));
  EXPECT_THAT(std::string(text, size),
              HasSubstr("nv_inference_request_success{model=\"a\",version=\"1\"} 1"));
  EXPECT_TRUE(Fails(TRITONSERVER_MetricsFormatted(
                        metrics, static_cast<TRITONSERVER_MetricFormat>(1), &text, &size),
                    TRITONSERVER_ERROR_INVALID_ARG, "unknown metrics format '1'"));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricsDelete(nullptr)));
}

TEST(ServerReports, MetricsCanBeOff) {
  Repository repository;
  Options options(repository, TRITONSERVER_MODEL_CONTROL_NONE);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetMetrics(options.get(), false)));
  TestServer server(options);
  TRITONSERVER_Metrics* metrics = nullptr;
  const char* text = nullptr;
  size_t size = 0;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerMetrics(server.get(), &metrics)));
  EXPECT_TRUE(
      Fails(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &text, &size),
            TRITONSERVER_ERROR_UNAVAILABLE, "metrics"));
  ASSERT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
}

TEST(ServerModels, AreLoadedAndUnloadedInExplicitMode) {
  Repository repository;
  repository.AddModel("a", IdentityConfig());
  repository.AddModel("b", IdentityConfig());
  Options options(repository, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "a")));
  TestServer server(options);
  EXPECT_TRUE(IsModelReady(server, "a"));
  EXPECT_EQ(server.Index(),
            "[{\"name\":\"a\",\"version\":\"1\",\"state\":\"READY\"},{\"name\":\"b\"}]");

  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server.get(), "b")));
  ExpectAnswers(server, "b");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerUnloadModel(server.get(), "a")));
  TRITONSERVER_InferenceRequest* request = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestNew(&request, server.get(), "a", -1),
                    TRITONSERVER_ERROR_NOT_FOUND,
                    "Request for unknown model: 'a' has no available versions"));
  EXPECT_THAT(server.Index(TRITONSERVER_INDEX_FLAG_READY), Not(HasSubstr("\"a\"")));
  EXPECT_TRUE(Fails(TRITONSERVER_ServerLoadModel(server.get(), "nobody"),
                    TRITONSERVER_ERROR_INTERNAL,
                    "failed to load 'nobody', failed to poll from model repository"));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server.get(), "a")));
  ExpectAnswers(server, "a");
}

TEST(ServerModels, AreNotControlledInModeNone) {
  Repository repository;
  repository.AddModel("a", IdentityConfig());
  TestServer server(repository);
  const char* const text = "explicit model load / unload is not allowed if polling is enabled";
  EXPECT_TRUE(
      Fails(TRITONSERVER_ServerLoadModel(server.get(), "a"), TRITONSERVER_ERROR_UNAVAILABLE, text));
  EXPECT_TRUE(Fails(TRITONSERVER_ServerUnloadModel(server.get(), "a"),
                    TRITONSERVER_ERROR_UNAVAILABLE, text));
}

TEST(ServerModels, FailedReloadLeavesTheServingVersion) {
  Repository repository;
  repository.AddModel("a", IdentityConfig());
  Options options(repository, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "*")));
  TestServer server(options);
  repository.AddModel("a", kBrokenConfig);
  EXPECT_TRUE(Fails(TRITONSERVER_ServerLoadModel(server.get(), "a"), TRITONSERVER_ERROR_INVALID_ARG,
                    "load failed for model 'a'"));
  ExpectAnswers(server, "a");
}

TEST(ServerModels, ARequestMovesToTheReloadedModel) {
  Repository repository;
  repository.AddModel("a", IdentityConfig());
  Options options(repository, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "a")));
  TestServer server(options);
  DiaryAllocator allocator;
  Call call(server, "a", &allocator);
  call.AddFloats("INPUT0", {1, 1}, {1});
  ASSERT_TRUE(Ok(call.Issue()));
  EXPECT_EQ(Outputs(call.TakeResponse()).size(), 1u);
  repository.AddFile("a/1/weights", "new");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server.get(), "a")));
  ASSERT_TRUE(Ok(call.Issue()));
  EXPECT_EQ(Outputs(call.TakeResponse()).size(), 1u);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerUnloadModel(server.get(), "a")));
  EXPECT_TRUE(Fails(call.Issue(), TRITONSERVER_ERROR_NOT_FOUND, "has no available versions"));
}

TEST(ServerModels, UnloadLetsRequestsInFlightFinish) {
  Repository repository;
  repository.AddModel("slow", SlowConfig(100));
  Options options(repository, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "slow")));
  TestServer server(options);
  DiaryAllocator allocator;
  Call call(server, "slow", &allocator);
  call.AddFloats("INPUT0", {1, 1}, {1});
  ASSERT_TRUE(Ok(call.Issue()));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerUnloadModel(server.get(), "slow")));
  EXPECT_FALSE(call.final()) << "unloading waited for the request";
  EXPECT_EQ(Outputs(call.TakeResponse()).size(), 1u);
}

TEST(ServerStop, DeleteWaitsForRequestsInFlight) {
  Repository repository;
  repository.AddModel("slow", SlowConfig(30));
  DiaryAllocator allocator;
  TestServer server(repository);
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(std::make_unique<Call>(server, "slow", &allocator));
    calls.back()->AddFloats("INPUT0", {1, 1}, {static_cast<float>(i)});
    ASSERT_TRUE(Ok(calls.back()->Issue()));
  }
  server.Delete();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(calls[i]->final()) << i;
    // Responses and requests outlive the server.
    const ResponsePtr response = calls[i]->TakeResponse();
    EXPECT_EQ(Floats(Outputs(response).at(0)), std::vector<float>{static_cast<float>(i)});
  }
}

TEST(ServerStop, ExitTimeoutLeavesTheServerToBeStoppedAgain) {
  Repository repository;
  repository.AddModel("slow", SlowConfig(200));
  DiaryAllocator allocator;
  TestServer server(repository);
  Call call(server, "slow", &allocator);
  call.AddFloats("INPUT0", {1, 1}, {1});
  ASSERT_TRUE(Ok(call.Issue()));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerSetExitTimeout(server.get(), 0)));
  EXPECT_TRUE(Fails(TRITONSERVER_ServerDelete(server.get()), TRITONSERVER_ERROR_INTERNAL,
                    "Exit timeout expired. Exiting immediately."));
  bool live = true;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerIsLive(server.get(), &live), TRITONSERVER_ERROR_UNAVAILABLE,
                    "Server exiting"));
  EXPECT_FALSE(live);
  EXPECT_EQ(Outputs(call.TakeResponse()).size(), 1u);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerSetExitTimeout(server.get(), 30)));
  server.Delete();
}

TEST(ServerStop, StoppedServerRefusesWork) {
  Repository repository;
  repository.AddModel("id", IdentityConfig());
  DiaryAllocator allocator;
  TestServer server(repository);
  Call call(server, "id", &allocator);
  call.AddFloats("INPUT0", {1, 1}, {1});
  ASSERT_TRUE(Ok(TRITONSERVER_ServerStop(server.get())));
  EXPECT_TRUE(Fails(call.Issue(), TRITONSERVER_ERROR_UNAVAILABLE, "Server not ready"));
  TRITONSERVER_Message* message = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_ServerModelIndex(server.get(), 0, &message),
                    TRITONSERVER_ERROR_UNAVAILABLE, "Server not ready"));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerStop(server.get()))) << "a second stop";
}

TEST(ServerStop, NullServerMayBeDeleted) { EXPECT_TRUE(Ok(TRITONSERVER_ServerDelete(nullptr))); }

// ---- Repositories that are registered

// Which version of which directory a name loads: models_0/model_0 has version 1, models_1/model_0
// version 2, and models_1/model_1 version 3.
class RegisteredRepositories : public testing::Test {
 protected:
  using Names = std::vector<std::pair<const char*, const char*>>;  // directory and name

  RegisteredRepositories() {
    zero_.AddModel("model_0", IdentityConfig(), {1});
    one_.AddModel("model_0", IdentityConfig(), {2});
    one_.AddModel("model_1", IdentityConfig(), {3});
  }

  TRITONSERVER_Error* Register(const Repository& repository, const Names& names) {
    std::vector<TRITONSERVER_Parameter*> made;
    for (const auto& [directory, name] : names) {
      made.push_back(TRITONSERVER_ParameterNew(directory, TRITONSERVER_PARAMETER_STRING, name));
    }
    std::vector<const TRITONSERVER_Parameter*> given(made.begin(), made.end());
    TRITONSERVER_Error* const error = TRITONSERVER_ServerRegisterModelRepository(
        server_.get(), repository.path().c_str(), given.data(),
        static_cast<uint32_t>(given.size()));
    for (TRITONSERVER_Parameter* const parameter : made) TRITONSERVER_ParameterDelete(parameter);
    return error;
  }

  // 0: the name cannot be loaded.
  int64_t VersionOf(const char* name) {
    TRITONSERVER_Error* const error = TRITONSERVER_ServerLoadModel(server_.get(), name);
    if (error != nullptr) {
      TRITONSERVER_ErrorDelete(error);
      return 0;
    }
    for (const int64_t version : {1, 2, 3}) {
      bool ready = false;
      TRITONSERVER_Error* const unknown =
          TRITONSERVER_ServerModelIsReady(server_.get(), name, version, &ready);
      if (unknown != nullptr) TRITONSERVER_ErrorDelete(unknown);
      if (ready) return version;
    }
    return -1;
  }

  Repository empty_, zero_, one_;
  TestServer server_{empty_, TRITONSERVER_MODEL_CONTROL_EXPLICIT};
};

TEST_F(RegisteredRepositories, ADirectoryWithAnotherName) {
  ASSERT_TRUE(Ok(Register(zero_, {{"model_0", "name_0"}})));
  EXPECT_EQ(VersionOf("name_0"), 1);
  EXPECT_EQ(VersionOf("model_0"), 0);
}

TEST_F(RegisteredRepositories, ADirectoryWithSeveralNames) {
  ASSERT_TRUE(Ok(Register(zero_, {{"model_0", "name_0"}, {"model_0", "name_1"}})));
  EXPECT_EQ(VersionOf("name_0"), 1);
  EXPECT_EQ(VersionOf("name_1"), 1);
}

TEST_F(RegisteredRepositories, AGivenNameComesBeforeThatOfADirectory) {
  ASSERT_TRUE(Ok(Register(one_, {{"model_0", "model_1"}})));
  EXPECT_EQ(VersionOf("model_1"), 2);
}

TEST_F(RegisteredRepositories, AGivenNameComesBeforeThatOfAnotherRepositorysDirectory) {
  ASSERT_TRUE(Ok(Register(zero_, {{"model_0", "model_0"}})));
  ASSERT_TRUE(Ok(Register(one_, {})));
  EXPECT_EQ(VersionOf("model_0"), 1);
  EXPECT_EQ(VersionOf("model_1"), 3);
}

TEST_F(RegisteredRepositories, OneNameForTwoDirectoriesIsRefused) {
  EXPECT_TRUE(Fails(
      Register(one_, {{"model_0", "name_0"}, {"model_1", "name_0"}}),
      TRITONSERVER_ERROR_INVALID_ARG,
      "failed to register '" + one_.path() + "', there is a conflicting mapping for 'name_0'"));
  ASSERT_TRUE(Ok(Register(zero_, {{"model_0", "name_0"}})));
  EXPECT_TRUE(Fails(Register(one_, {{"model_0", "name_0"}}), TRITONSERVER_ERROR_ALREADY_EXISTS,
                    "there is a conflicting mapping for 'name_0'"));
  EXPECT_TRUE(Ok(Register(one_, {{"model_0", "name_1"}}))) << "nothing was registered before";
}

}  // namespace
}  // namespace nereid_test
