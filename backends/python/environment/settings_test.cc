// SPDX-License-Identifier: Apache-2.0
#include "backends/python/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/python/environment/testing/files.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PythonSettingsTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  Result<PythonSettings> Read(const std::string& json) {
    ::testing::internal::CaptureStderr();
    Result<PythonSettings> settings =
        PythonSettings::FromJson(*Json::Parse(json), variables_, "python");
    log_ = ::testing::internal::GetCapturedStderr();
    return settings;
  }
  std::string Refusal(const std::string& json) {
    Result<PythonSettings> settings = Read(json);
    if (settings.ok()) return "";
    EXPECT_EQ(settings.error().code(), TRITONSERVER_ERROR_INVALID_ARG);
    return settings.error().message();
  }

  Variables variables_{{"HOME=/home/user"}};
  std::string log_;  // of the last Read
};

TEST_F(PythonSettingsTest, Defaults) {
  const Result<PythonSettings> settings = Read("{}");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->python, "python3");
  EXPECT_FALSE(settings->install_requirements);
  EXPECT_EQ(settings->initialize_timeout_seconds, 600);
  EXPECT_EQ(settings->fork_server_keep_seconds, 60);
  EXPECT_EQ(settings->requirements_cache, "/home/user/.cache/nereid/python");
  EXPECT_EQ(log_, "");
}

TEST_F(PythonSettingsTest, TheCacheIsWhereTheUserHasCaches) {
  variables_.Set("XDG_CACHE_HOME", "/var/cache/user");
  EXPECT_EQ(Read("{}")->requirements_cache, "/var/cache/user/nereid/python");
  EXPECT_EQ(Read(R"({"requirements-cache":"/big"})")->requirements_cache, "/big");
  variables_ = Variables();
  EXPECT_EQ(Read("{}")->requirements_cache, "");
}

TEST_F(PythonSettingsTest, OwnSettings) {
  testing::TempFolder wheels;
  const Result<PythonSettings> settings = Read(
      R"({"python":"/opt/python","install-requirements":"true","wheelhouse":")" + wheels.path() +
      R"(","initialize-timeout-seconds":"5","stderr-lines":"0","fork-server-keep-seconds":"0",
          "fork-sever":"off"})");
  ASSERT_TRUE(settings.ok());
  EXPECT_THAT(log_, HasSubstr("backend 'python': setting 'fork-sever' is unknown and has no effect "
                              "(did you mean 'fork-server'?)"));
  EXPECT_EQ(settings->python, "/opt/python");
  EXPECT_TRUE(settings->install_requirements);
  EXPECT_EQ(settings->wheelhouse, wheels.path());
  EXPECT_EQ(settings->initialize_timeout_seconds, 5);
  EXPECT_EQ(settings->stderr_lines, 0);
  EXPECT_EQ(settings->fork_server_keep_seconds, 0);
  EXPECT_THAT(Refusal(R"({"install-requirements":"maybe"})"), HasSubstr("'install-requirements'"));
  EXPECT_THAT(Refusal(R"({"initialize-timeout-seconds":"0"})"),
              HasSubstr("'initialize-timeout-seconds'"));
  EXPECT_THAT(Refusal(R"({"fork-server-keep-seconds":"-1"})"),
              HasSubstr("'fork-server-keep-seconds'"));
  EXPECT_EQ(Refusal(R"({"wheelhouse":"/no/such"})"),
            "backend setting 'wheelhouse' is '/no/such'; it has to be a folder with wheels");
  EXPECT_NE(Refusal(R"({"python":""})"), "");
}

TEST_F(PythonSettingsTest, WhatTheOriginalUsesIsCheckedAndNamed) {
  ASSERT_TRUE(Read(R"({"shm-default-byte-size":"16777216","shm-growth-byte-size":"1",
                       "stub-timeout-seconds":"60","shm-region-prefix-name":"mine",
                       "shm_message_queue_size":"10","thread-pool-size":"4"})")
                  .ok());
  for (const char* name :
       {"shm-default-byte-size", "shm-growth-byte-size", "shm-region-prefix-name",
        "shm_message_queue_size", "stub-timeout-seconds", "thread-pool-size"}) {
    EXPECT_THAT(log_, HasSubstr(StrCat("setting '", name, "' has no effect: ")));
  }
}

TEST_F(PythonSettingsTest, WhatTheOriginalRefusesIsRefused) {
  EXPECT_EQ(Refusal(R"({"shm-default-byte-size":"1048575"})"),
            "shm-default-byte-size can't be smaller than 4 MiBs");
  EXPECT_EQ(Refusal(R"({"shm-growth-byte-size":"0"})"),
            "shm-growth-byte-size can't be smaller than or equal to zero.");
  EXPECT_EQ(Refusal(R"({"stub-timeout-seconds":"-1"})"),
            "stub-timeout-seconds can't be smaller than or equal to zero.");
  EXPECT_EQ(Refusal(R"({"shm-region-prefix-name":""})"),
            "shm-region-prefix-name must at least contain one character.");
  EXPECT_EQ(Refusal(R"({"thread-pool-size":"0"})"), "thread-pool-size can't be less than 1.");
  EXPECT_EQ(Refusal(R"({"thread-pool-size":"many"})"), "thread-pool-size can't be less than 1.");
  EXPECT_THAT(Refusal(R"({"shm_message_queue_size":"many"})"), HasSubstr("must be an integer"));
}

TEST_F(PythonSettingsTest, ABackendInPythonHasAFileForAllItsModels) {
  TRITONBACKEND_Backend backend;
  backend.name = "vllm";
  backend.folder = "/backends/vllm";
  backend.config = R"({"cmdline":{"backend-directory":"/backends","thread-pool-size":"2"}})";
  ::testing::internal::CaptureStderr();
  const Result<PythonSettings> settings = PythonSettings::Read(&backend);
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->model_file, "/backends/vllm/model.py");
  EXPECT_EQ(settings->runtime_directory, "/backends/python");
  EXPECT_THAT(log, AllOf(HasSubstr("backend 'vllm': setting 'thread-pool-size' has no effect: "),
                         HasSubstr("requirements.txt of models: not installed")));

  backend.name = "python";
  backend.folder = "/backends/python";
  EXPECT_EQ(PythonSettings::Read(&backend)->model_file, "");
  EXPECT_EQ(PythonSettings::Read(&backend)->runtime_directory, "/backends/python");
}

}  // namespace
}  // namespace nereid_backend
