// SPDX-License-Identifier: Apache-2.0
// The response cache through the C API: options, hits and misses, changes of a model's answers, and
// caches that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kCached[] = "response_cache { enable: true }\n";

// Options with the caches of this build, and one of them configured.
class CacheOptions : public Options {
 public:
  CacheOptions(const Repository& repository, const char* cache, const char* config,
               TRITONSERVER_ModelControlMode mode = TRITONSERVER_MODEL_CONTROL_NONE)
      : Options(repository, mode) {
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheDirectory(get(), NEREID_TEST_CACHES)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheConfig(get(), cache, config)));
  }
};

// Sends one request, whose answer has to be the input.
void Ask(const TestServer& server, const char* model, float value) {
  DiaryAllocator allocator;
  Call call(server, model, &allocator);
  call.AddFloats("INPUT0", {1, 2}, {value, 2});
  ASSERT_TRUE(Ok(call.Issue()));
  const std::vector<Output> outputs = Outputs(call.TakeResponse());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "OUTPUT0");
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Floats(outputs[0]), (std::vector<float>{value, 2}));
}

testing::Matcher<const std::string&> Counts(int hits, int misses, int executions) {
  return AllOf(HasSubstr("\"cache_hit\":{\"count\":" + std::to_string(hits) + ","),
               HasSubstr("\"cache_miss\":{\"count\":" + std::to_string(misses) + ","),
               HasSubstr("\"execution_count\":" + std::to_string(executions) + ","),
               HasSubstr("\"success\":{\"count\":" + std::to_string(hits + executions) + ","));
}

std::string Metrics(const TestServer& server) {
  TRITONSERVER_Metrics* metrics = nullptr;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerMetrics(server.get(), &metrics)));
  const char* base = nullptr;
  size_t size = 0;
  EXPECT_TRUE(
      Ok(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size)));
  std::string text(base, size);
  EXPECT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
  return text;
}

TEST(ResponseCache, AnswersWhatWasAskedBefore) {
  Repository repository;
  repository.AddModel("cached", IdentityConfig(kCached));
  repository.AddModel("plain", IdentityConfig());
  const CacheOptions options(repository, "local", R"({"size": "1048576"})");
  TestServer server(options);
  for (const float value : {1, 2, 1, 1, 2}) {
    Ask(server, "cached", value);
    Ask(server, "plain", value);
  }
  EXPECT_THAT(server.Statistics("cached"), Counts(3, 2, 2));
  EXPECT_THAT(server.Statistics("plain"), Counts(0, 0, 5));
  EXPECT_THAT(Metrics(server),
              AllOf(HasSubstr("nv_cache_num_hits_per_model{model=\"cached\",version=\"1\"} 3\n"),
                    HasSubstr("nv_cache_num_misses_per_model{model=\"cached\",version=\"1\"} 2\n"),
                    HasSubstr("nv_inference_count{model=\"cached\",version=\"1\"} 2\n"),
                    HasSubstr("nv_inference_request_success{model=\"cached\",version=\"1\"} 5\n"),
                    Not(HasSubstr("nv_cache_num_hits_per_model{model=\"plain\"")),
                    HasSubstr("# TYPE nv_cache_num_entries gauge\nnv_cache_num_entries ")));
}

TEST(ResponseCache, AHitComesInTheApplicationsBuffers) {
  Repository repository;
  repository.AddModel("m", IdentityConfig(kCached));
  const CacheOptions options(repository, "local", R"({"size": 1048576})");
  TestServer server(options);
  Ask(server, "m", 1);
  DiaryAllocator allocator;
  {
    Call call(server, "m", &allocator);
    call.AddFloats("INPUT0", {1, 2}, {1, 2});
    ASSERT_TRUE(Ok(call.Issue()));
    EXPECT_TRUE(call.final()) << "a local hit needs no other thread";
    EXPECT_EQ(Floats(Outputs(call.TakeResponse())[0]), (std::vector<float>{1, 2}));
  }
  EXPECT_EQ(allocator.diary(),
            (std::vector<std::string>{"start", "alloc OUTPUT0 8", "attributes OUTPUT0 8",
                                      "release OUTPUT0 8"}));
  EXPECT_THAT(server.Statistics("m"), Counts(1, 1, 1));
  // Without a buffer there is no hit. The model answers instead, or reports why it cannot.
  allocator.fail_alloc = true;
  Call call(server, "m", &allocator);
  call.AddFloats("INPUT0", {1, 2}, {1, 2});
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr failed = call.TakeResponse();
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(failed.get());
  EXPECT_NE(error, nullptr);
  TRITONSERVER_ErrorDelete(error);
  EXPECT_THAT(server.Statistics("m"), HasSubstr("\"cache_hit\":{\"count\":1,"));
}

TEST(ResponseCache, AChangedModelIsAskedAnew) {
  Repository repository;
  repository.AddModel("m", IdentityConfig(kCached));
  const CacheOptions options(repository, "local", R"({"size": 1048576})",
                             TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  TestServer server(options);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server.get(), "m")));
  Ask(server, "m", 1);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerUnloadModel(server.get(), "m")));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server.get(), "m")));
  Ask(server, "m", 1);
  EXPECT_THAT(server.Statistics("m"), Counts(1, 0, 0)) << "the same model loaded again";
  repository.AddFile("m/1/weights", "new");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerLoadModel(server.get(), "m")));
  Ask(server, "m", 1);
  EXPECT_THAT(server.Statistics("m"), Counts(0, 1, 1)) << "other files";
}

TEST(ResponseCache, OfWhateverKindItFailsTheRequestDoesNot) {
  Repository repository;
  repository.AddModel("m", IdentityConfig(kCached));
  for (const char* behaviour : {"lookup_fails", "lookup_throws", "insert_fails", "insert_throws",
                                "damages", "no_copy", "two_buffers", "ignores_copy_error"}) {
    const CacheOptions options(repository, "testing",
                               ("{\"behaviour\": \"" + std::string(behaviour) + "\"}").c_str());
    TestServer server(options);
    for (int i = 0; i < 3; ++i) Ask(server, "m", 1);
    EXPECT_THAT(server.Statistics("m"),
                AllOf(HasSubstr("\"cache_hit\":{\"count\":0,"), HasSubstr("\"execution_count\":3,"),
                      HasSubstr("\"fail\":{\"count\":0,")))
        << behaviour;
  }
}

TEST(ResponseCache, ModelsThatAskForItAreServedWithoutOne) {
  Repository repository;
  repository.AddModel("m", IdentityConfig(kCached));
  TestServer server(repository);
  Ask(server, "m", 1);
  Ask(server, "m", 1);
  EXPECT_THAT(server.Statistics("m"), Counts(0, 0, 2));
  EXPECT_THAT(Metrics(server), HasSubstr("nv_cache_num_hits_per_model{model=\"m\""));
}

TEST(ResponseCache, OptionsThatAreWrong) {
  Repository repository;
  const auto fails = [](const Options& options, const char* text) {
    TRITONSERVER_Server* server = nullptr;
    return Fails(TRITONSERVER_ServerNew(&server, options.get()), TRITONSERVER_ERROR_INVALID_ARG,
                 text);
  };
  CacheOptions two(repository, "local", R"({"size": 1000})");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheConfig(two.get(), "redis", "{}")));
  EXPECT_TRUE(fails(two,
                    "found multiple cache configurations, but only a single cache is currently "
                    "supported"));
  CacheOptions nowhere(repository, "local", R"({"size": 1000})");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheDirectory(nowhere.get(), "")));
  EXPECT_TRUE(fails(nowhere, "cache directory can not be empty"));
  EXPECT_TRUE(fails(CacheOptions(repository, "nobody", "{}"),
                    "unable to find 'libtritoncache_nobody.so' for cache. Searched: "));
  EXPECT_TRUE(fails(CacheOptions(repository, "local", "{}"), "Failed to initialize LocalCache"));
}

TEST(ResponseCache, TheDeprecatedOptionMeansTheLocalCache) {
  Repository repository;
  repository.AddModel("m", IdentityConfig(kCached));
  Options options(repository, TRITONSERVER_MODEL_CONTROL_NONE);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheDirectory(options.get(), NEREID_TEST_CACHES)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetResponseCacheByteSize(options.get(), 100'000)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetResponseCacheByteSize(options.get(), 0)));
  TestServer server(options);
  Ask(server, "m", 1);
  Ask(server, "m", 1);
  EXPECT_THAT(server.Statistics("m"), Counts(1, 1, 1));
}

}  // namespace
}  // namespace nereid_test
