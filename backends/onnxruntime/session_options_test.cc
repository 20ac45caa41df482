// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/session_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

class SessionRequestTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { Ort::InitApi(OrtGetApiBase()->GetApi(ORT_API_VERSION)); }

  static Result<SessionRequest> From(const std::string& json) {
    const Result<ModelConfig> config = ParseModelConfig(json);
    EXPECT_TRUE(config.ok());
    return SessionRequest::FromConfig(*config);
  }
  static Result<SessionRequest> WithParameter(const std::string& key, const std::string& value) {
    return From("{\"name\":\"m\",\"parameters\":{\"" + key + "\":{\"string_value\":\"" + value +
                "\"}}}");
  }
  static std::string ErrorOf(Result<SessionRequest> request) {
    return request.ok() ? "" : request.error().message();
  }
};

TEST_F(SessionRequestTest, Defaults) {
  const Result<SessionRequest> request = From("{}");
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request->intra_op_threads.has_value());
  EXPECT_FALSE(request->parallel);
  EXPECT_FALSE(request->arena_enabled());
  EXPECT_FALSE(request->pattern_enabled());
  EXPECT_EQ(request->graph_level, ORT_ENABLE_ALL);
}

TEST_F(SessionRequestTest, Parameters) {
  EXPECT_EQ(*WithParameter("intra_op_thread_count", "3")->intra_op_threads, 3);
  EXPECT_EQ(*WithParameter("inter_op_thread_count", "0")->inter_op_threads, 0);
  EXPECT_TRUE(WithParameter("execution_mode", "1")->parallel);
  EXPECT_TRUE(WithParameter("enable_mem_arena", "1")->arena_enabled());
  EXPECT_TRUE(WithParameter("enable_mem_pattern", "1")->pattern_enabled());
  const Result<SessionRequest> entry = WithParameter("session.disable_prepacking", "1");
  ASSERT_EQ(entry->entries.size(), 1u);
  EXPECT_EQ(entry->entries[0].first, "session.disable_prepacking");
  EXPECT_TRUE(WithParameter("somebody_elses", "1")->entries.empty());
}

TEST_F(SessionRequestTest, MemoryIsKeptWhereShapesAreFixed) {
  Result<SessionRequest> request = From("{}");
  request->fixed_shapes = true;
  EXPECT_TRUE(request->arena_enabled());
  EXPECT_TRUE(request->pattern_enabled());
  request = From(R"({"name":"m","parameters":{
      "enable_mem_arena":{"string_value":"0"},"enable_mem_pattern":{"string_value":"0"}}})");
  request->fixed_shapes = true;
  EXPECT_FALSE(request->arena_enabled());
  EXPECT_FALSE(request->pattern_enabled());
}

TEST_F(SessionRequestTest, ShrinkageNeedsAnArena) {
  EXPECT_TRUE(WithParameter("memory.enable_memory_arena_shrinkage", "cpu:0")->arena_enabled());
  EXPECT_THAT(ErrorOf(WithParameter("memory.enable_memory_arena_shrinkage", "cpu:1")),
              HasSubstr("must be 'cpu:0'"));
  EXPECT_NE(ErrorOf(WithParameter("memory.enable_memory_arena_shrinkage", "")), "");
  EXPECT_THAT(ErrorOf(From(R"({"name":"m","parameters":{
                  "enable_mem_arena":{"string_value":"0"},
                  "memory.enable_memory_arena_shrinkage":{"string_value":"cpu:0"}}})")),
              HasSubstr("turns off"));
}

// Machines with and without GPUs share configurations.
TEST_F(SessionRequestTest, ArenasOfGpusAreLeftOut) {
  Result<SessionRequest> both =
      WithParameter("memory.enable_memory_arena_shrinkage", "cpu:0;gpu:0");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->arena_shrinkage, "cpu:0");
  Result<SessionRequest> gpu = WithParameter("memory.enable_memory_arena_shrinkage", "gpu:1");
  ASSERT_TRUE(gpu.ok());
  EXPECT_FALSE(gpu->arena_enabled());
}

TEST_F(SessionRequestTest, ValuesThatTheOriginalTakes) {
  EXPECT_TRUE(WithParameter("enable_mem_arena", "on")->arena_enabled());
  EXPECT_EQ(WithParameter("enable_mem_pattern", "Off")->mem_pattern, false);
  EXPECT_EQ(WithParameter("intra_op_thread_count", "-1")->intra_op_threads, std::nullopt);
}

TEST_F(SessionRequestTest, BadValuesNameTheParameter) {
  EXPECT_THAT(ErrorOf(WithParameter("intra_op_thread_count", "many")),
              HasSubstr("parameter 'intra_op_thread_count' of model 'm'"));
  EXPECT_THAT(ErrorOf(WithParameter("execution_mode", "2")), HasSubstr("'execution_mode'"));
}

TEST_F(SessionRequestTest, GraphLevels) {
  const auto level = [](const std::string& value) {
    return From(R"({"optimization":{"graph":{"level":)" + value + "}}}")->graph_level;
  };
  EXPECT_EQ(level("-1"), ORT_ENABLE_BASIC);
  EXPECT_EQ(level("0"), ORT_ENABLE_ALL);
  EXPECT_EQ(level("1"), ORT_ENABLE_EXTENDED);
  EXPECT_EQ(level("2"), ORT_DISABLE_ALL);
}

TEST_F(SessionRequestTest, Accelerators) {
  const auto with = [](const std::string& kind, const std::string& name) {
    return ErrorOf(From(R"({"optimization":{"execution_accelerators":{")" + kind +
                        R"(":[{"name":")" + name + R"("}]}}})"));
  };
  EXPECT_THAT(with("cpu_execution_accelerator", "warp"),
              HasSubstr("unknown Execution Accelerator 'warp' is requested"));
  EXPECT_EQ(with("gpu_execution_accelerator", "unknown_gpu"),
            "unknown Execution Accelerator 'unknown_gpu' is requested");
  EXPECT_EQ(with("cpu_execution_accelerator", "openvino"), "");
  EXPECT_EQ(with("gpu_execution_accelerator", "tensorrt"), "") << "ignored with a warning";
}

TEST_F(SessionRequestTest, AnAcceleratorThatIsNotInstalledSaysWhatBringsIt) {
  const Result<std::unique_ptr<Environment>> environment =
      Environment::Create(Json(), ::testing::TempDir() + "/nowhere");
  ASSERT_TRUE(environment.ok());
  Result<SessionRequest> request = From(
      R"({"optimization":{"execution_accelerators":{"cpu_execution_accelerator":[{"name":"openvino"}]}}})");
  ASSERT_TRUE(request.ok());
  Result<Ort::SessionOptions> options = request->Build(**environment);
  ASSERT_FALSE(options.ok());
  EXPECT_THAT(options.error().message(), HasSubstr("the execution accelerator 'openvino' is not"));
}

}  // namespace
}  // namespace nereid_backend
