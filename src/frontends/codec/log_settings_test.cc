// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/log_settings.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

absl::Status Apply(absl::string_view body) {
  return ApplyLogSettings(body, ParseBudget::UpTo(2 << 20));
}

// The log belongs to the process, so each test leaves it as it was.
class LogSettingsTest : public ::testing::Test {
 protected:
  ~LogSettingsTest() override { EXPECT_TRUE(Log::Configure(LogSettings()).ok()); }
};

TEST_F(LogSettingsTest, TheJsonForm) {
  EXPECT_EQ(LogSettingsToJson(LogSettings()),
            R"({"log_file":"","log_info":true,"log_warning":true,"log_error":true,)"
            R"("log_verbose_level":0,"log_format":"default"})");
}

TEST_F(LogSettingsTest, EachMemberIsApplied) {
  ASSERT_TRUE(Apply(R"({"log_file":null,"log_info":false,"log_warning":false,)"
                    R"("log_verbose_level":7,"log_format":"ISO8601"})")
                  .ok());
  const LogSettings settings = Log::Settings();
  EXPECT_FALSE(settings.info);
  EXPECT_FALSE(settings.warning);
  EXPECT_TRUE(settings.error);
  EXPECT_EQ(settings.verbose_level, 7);
  EXPECT_EQ(settings.format, LogFormat::kIso8601);
  ASSERT_TRUE(Apply(R"({"log_info":null,"log_warning":true,"log_format":"json"})").ok());
  EXPECT_FALSE(Log::Settings().info);
  EXPECT_TRUE(Log::Settings().warning);
  EXPECT_EQ(Log::Settings().format, LogFormat::kJson);
}

TEST_F(LogSettingsTest, WhatComesBeforeABadMemberIsApplied) {
  EXPECT_EQ(Apply(R"({"log_info":false,"log_format":"nice"})"),
            absl::UnavailableError("invalid argument for --log_format, got: nice"));
  EXPECT_FALSE(Log::Settings().info);
  EXPECT_EQ(
      Apply(R"({"log_file":"x","log_error":false})"),
      absl::UnimplementedError("log file location can not be updated through network protocol"));
  EXPECT_TRUE(Log::Settings().error);
}

TEST_F(LogSettingsTest, WrongKinds) {
  for (const char* body : {"", "{", R"({"log_info":1})", R"({"log_verbose_level":-1})",
                           R"({"log_verbose_level":"1"})", R"({"log_format":1})"}) {
    EXPECT_EQ(Apply(body).code(), absl::StatusCode::kInvalidArgument) << body;
  }
}

TEST_F(LogSettingsTest, UnknownNamesAreRefusedAndNothingIsApplied) {
  EXPECT_EQ(Apply(R"({"log_info":false,"log_inf":false})"),
            absl::InvalidArgumentError(
                "unknown log setting 'log_inf', did you mean 'log_info'? Known: log_file, "
                "log_info, log_warning, log_error, log_verbose_level, log_format"));
  EXPECT_TRUE(Log::Settings().info);
  EXPECT_EQ(Apply("[]"), absl::InvalidArgumentError("attempt to access JSON non-object as object"));
}

TEST_F(LogSettingsTest, AHugeLevelIsTheHighest) {
  ASSERT_TRUE(Apply(R"({"log_verbose_level":4294967295})").ok());
  EXPECT_EQ(Log::Settings().verbose_level, 2147483647);
}

}  // namespace
}  // namespace nereid
