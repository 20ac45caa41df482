// SPDX-License-Identifier: Apache-2.0
#include "flags/cloud_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "flags/command_line.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Environment Platform(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  };
}

TEST(CloudEnvironmentTest, NothingIsSet) {
  Settings s;
  ReadCloudEnvironment(Platform({}), &s);
  ASSERT_TRUE(s.vertex_ai_environment.ok());
  EXPECT_FALSE(s.vertex_ai.listen.allow);
  EXPECT_EQ(s.vertex_ai.listen.port, 8080);
  EXPECT_TRUE(s.allow_http);
  EXPECT_TRUE(s.allow_grpc);
}

TEST(CloudEnvironmentTest, VertexAi) {
  Settings s;
  ReadCloudEnvironment(Platform({{"AIP_MODE", "PREDICTION"},
                                 {"AIP_HTTP_PORT", "9090"},
                                 {"AIP_STORAGE_URI", "models"},
                                 {"AIP_PREDICT_ROUTE", "/predict"},
                                 {"AIP_HEALTH_ROUTE", "/health"}}),
                       &s);
  ASSERT_TRUE(s.vertex_ai_environment.ok());
  EXPECT_TRUE(s.vertex_ai.listen.allow);
  EXPECT_EQ(s.vertex_ai.listen.port, 9090);
  EXPECT_EQ(s.vertex_ai.predict_route, "/predict");
  EXPECT_EQ(s.vertex_ai.health_route, "/health");
  EXPECT_FALSE(s.allow_http);
  EXPECT_FALSE(s.allow_grpc);
  ASSERT_TRUE(ParseCommandLine({}, &s).ok());
  EXPECT_THAT(s.server.model_repositories, ElementsAre("models"));
}

TEST(CloudEnvironmentTest, TheCommandLineWins) {
  Settings s;
  ReadCloudEnvironment(
      Platform(
          {{"AIP_MODE", "PREDICTION"}, {"AIP_HTTP_PORT", "9090"}, {"AIP_STORAGE_URI", "models"}}),
      &s);
  ASSERT_TRUE(s.vertex_ai_environment.ok());
  ASSERT_TRUE(ParseCommandLine({"--model-repository=others", "--allow-http=true",
                                "--vertex-ai-port=7070", "--vertex-ai-default-model=echo"},
                               &s)
                  .ok());
  EXPECT_THAT(s.server.model_repositories, ElementsAre("others"));
  EXPECT_TRUE(s.allow_http);
  EXPECT_EQ(s.vertex_ai.listen.port, 7070);
  EXPECT_EQ(s.vertex_ai.default_model, "echo");
}

TEST(CloudEnvironmentTest, TheRepositoryOfAPlatformThatIsNotServedIsNone) {
  Settings s;
  ReadCloudEnvironment(Platform({{"AIP_STORAGE_URI", "models"}}), &s);
  ASSERT_TRUE(s.vertex_ai_environment.ok());
  EXPECT_THAT(std::string(ParseCommandLine({}, &s).message()),
              HasSubstr("--model-repository must be specified"));
}

TEST(CloudEnvironmentTest, ABadPortCountsOnlyIfItIsUsed) {
  for (const char* port : {"http", "70000", "-1"}) {
    Settings unused, used;
    const Environment environment = Platform({{"AIP_HTTP_PORT", port}});
    ReadCloudEnvironment(environment, &unused);
    ReadCloudEnvironment(environment, &used);
    EXPECT_TRUE(ParseCommandLine({"--model-repository=models"}, &unused).ok()) << port;
    EXPECT_THAT(
        std::string(ParseCommandLine({"--model-repository=models", "--allow-vertex-ai=true"}, &used)
                        .message()),
        HasSubstr("Bad option: \"AIP_HTTP_PORT\""))
        << port;
  }
}

TEST(CloudEnvironmentTest, Sagemaker) {
  Settings s;
  ReadCloudEnvironment(Platform({{"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME", "echo"},
                                 {"SAGEMAKER_TRITON_PING_MODE", "live"},
                                 {"SAGEMAKER_TRITON_INFERENCE_TYPE", "generate_stream"}}),
                       &s);
  ASSERT_TRUE(s.sagemaker_environment.ok());
  EXPECT_EQ(s.sagemaker.default_model, "echo");
  EXPECT_TRUE(s.sagemaker.ping_live);
  EXPECT_EQ(s.sagemaker.inference, "generate_stream");
  EXPECT_TRUE(s.allow_http);
}

TEST(CloudEnvironmentTest, BadWordsForSagemaker) {
  for (const char* name : {"SAGEMAKER_TRITON_PING_MODE", "SAGEMAKER_TRITON_INFERENCE_TYPE"}) {
    Settings s;
    ReadCloudEnvironment(Platform({{name, "x"}}), &s);
    EXPECT_THAT(
        std::string(ParseCommandLine({"--model-repository=models", "--allow-sagemaker=true"}, &s)
                        .message()),
        HasSubstr(name));
  }
}

}  // namespace
}  // namespace nereid
