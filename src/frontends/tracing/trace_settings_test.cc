// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

TEST(TraceSettingsTest, LevelsHaveOldNamesAndAnyCase) {
  EXPECT_EQ(ParseTraceLevel("Off").value(), 0);
  EXPECT_EQ(ParseTraceLevel("false").value(), 0);
  for (const char* word : {"TIMESTAMPS", "true", "On", "MIN", "max"}) {
    EXPECT_EQ(ParseTraceLevel(word).value(), kTraceTimestamps) << word;
  }
  EXPECT_EQ(ParseTraceLevel("tensors").value(), kTraceTensors);
  EXPECT_EQ(ParseTraceLevel("all").status().message(), "invalid value for trace level option: all");
}

TEST(TraceSettingsTest, Modes) {
  EXPECT_EQ(ParseTraceMode("Triton").value(), TraceMode::kTriton);
  EXPECT_EQ(ParseTraceMode("OPENTELEMETRY").value(), TraceMode::kOpenTelemetry);
  EXPECT_EQ(ParseTraceMode("x").status().message(),
            "invalid value for trace mode option: x. Available options are \"triton\" and "
            "\"opentelemetry\"");
}

TEST(TraceSettingsTest, LevelIsAllWordsOrOff) {
  TraceUpdate update;
  ASSERT_TRUE(SetTraceLevel({"TIMESTAMPS", "TENSORS"}, &update).ok());
  EXPECT_EQ(update.level, kTraceTimestamps | kTraceTensors);
  ASSERT_TRUE(SetTraceLevel({"OFF"}, &update).ok());
  EXPECT_EQ(update.level, 0U);
  EXPECT_EQ(SetTraceLevel({"OFF", "TENSORS"}, &update).message(),
            "Expect only one trace level 'OFF' is specified");
  EXPECT_FALSE(SetTraceLevel({"nothing"}, &update).ok());
}

TEST(TraceSettingsTest, NumbersHaveLimits) {
  TraceUpdate update;
  ASSERT_TRUE(SetTraceNumber(kTraceRateKey, "7", &update).ok());
  ASSERT_TRUE(SetTraceNumber(kTraceCountKey, "-1", &update).ok());
  ASSERT_TRUE(SetTraceNumber(kLogFrequencyKey, "2147483647", &update).ok());
  EXPECT_EQ(update.rate, 7U);
  EXPECT_EQ(update.count, -1);
  EXPECT_EQ(update.log_frequency, 2147483647U);
  const auto error = [&](const char* key, const char* text) {
    return std::string(SetTraceNumber(key, text, &update).message());
  };
  EXPECT_EQ(error(kTraceRateKey, "x"), "Unable to parse 'trace_rate', got: x");
  EXPECT_EQ(error(kTraceRateKey, ""), "Unable to parse 'trace_rate', got: ");
  EXPECT_EQ(error(kLogFrequencyKey, "99999999999999999999"),
            "Unable to parse 'log_frequency', value is out of range [ 0, 4294967295 ], got: "
            "99999999999999999999");
  EXPECT_EQ(error(kTraceCountKey, "2147483648"),
            "Unable to parse 'trace_count', value is out of range [ -1, 2147483647 ], got: "
            "2147483648");
  EXPECT_EQ(error(kTraceCountKey, "-2"),
            "Unable to parse 'trace_count'. Expecting value >= -1, got:-2");
}

TEST(TraceSettingsTest, ClearedIsNotUnchanged) {
  TraceUpdate update;
  EXPECT_TRUE(update.empty());
  ClearTraceSetting(kTraceRateKey, &update);
  EXPECT_FALSE(update.empty());
  ASSERT_TRUE(update.rate.has_value());
  EXPECT_FALSE(update.rate->has_value());
  EXPECT_FALSE(update.count.has_value());
  ClearTraceSetting("no such", &update);
  EXPECT_FALSE(update.level.has_value());
}

TEST(TraceSettingsTest, LevelsAreListed) {
  EXPECT_THAT(TraceLevelNames(0), ElementsAre("OFF"));
  EXPECT_THAT(TraceLevelNames(kTraceTensors), ElementsAre("TENSORS"));
  EXPECT_THAT(TraceLevelNames(kTraceTensors | kTraceTimestamps),
              ElementsAre("TIMESTAMPS", "TENSORS"));
}

}  // namespace
}  // namespace nereid
