// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/trace_request.h"

#include <gtest/gtest.h>

#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

absl::StatusOr<TraceUpdate> ReadUpdate(absl::string_view body) {
  return ReadTraceUpdate(body, ParseBudget::UpTo(2 << 20));
}

std::string TraceErrorOf(absl::string_view body) {
  return std::string(ReadUpdate(body).status().message());
}

TEST(TraceRequestTest, ReadsWhatIsThere) {
  const auto update =
      ReadUpdate(R"({"trace_level":["TIMESTAMPS","TENSORS"],"trace_rate":"3","trace_count":null})");
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->level, kTraceTimestamps | kTraceTensors);
  EXPECT_EQ(update->rate, 3U);
  ASSERT_TRUE(update->count.has_value());
  EXPECT_FALSE(update->count->has_value());
  EXPECT_FALSE(update->log_frequency.has_value());
  const auto cleared = ReadUpdate(R"({"trace_level":null})");
  ASSERT_TRUE(cleared.ok());
  EXPECT_TRUE(cleared->level.has_value());
  EXPECT_TRUE(ReadUpdate("{}")->empty());
}

TEST(TraceRequestTest, SaysWhatIsWrong) {
  EXPECT_FALSE(ReadUpdate("").ok());
  EXPECT_EQ(TraceErrorOf(R"({"trace_file":"x"})"),
            "trace file location can not be updated through network protocol");
  EXPECT_EQ(TraceErrorOf(R"({"trace_level":"OFF"})"),
            "Unable to parse 'trace_level': attempt to access JSON non-array as array");
  EXPECT_EQ(TraceErrorOf(R"({"trace_level":[1]})"),
            "Unable to parse 'trace_level': attempt to access JSON non-string as string");
  EXPECT_EQ(TraceErrorOf(R"({"trace_rate":5})"),
            "Unable to parse 'trace_rate': attempt to access JSON non-string as string");
  EXPECT_EQ(TraceErrorOf(R"({"log_frequency":"many"})"),
            "Unable to parse 'log_frequency', got: many");
}

TEST(TraceRequestTest, WritesSettings) {
  EXPECT_EQ(
      ToJson(std::vector<TraceSettingText>{{"trace_level", {"OFF"}, true}, {"trace_rate", {"1"}}}),
      R"({"trace_level":["OFF"],"trace_rate":"1"})");
}

TEST(TraceRequestTest, UnknownSettingsAreRefusedByName) {
  EXPECT_EQ(ReadUpdate(R"({"trace_lvl":["OFF"]})").status(),
            absl::InvalidArgumentError("unknown trace setting 'trace_lvl', did you mean "
                                       "'trace_level'? Known: trace_level, trace_rate, "
                                       "trace_count, log_frequency"));
  EXPECT_EQ(ReadUpdate("[]").status(),
            absl::InvalidArgumentError("attempt to access JSON non-object as object"));
}

}  // namespace
}  // namespace nereid
