// SPDX-License-Identifier: Apache-2.0
#include "config/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model_config.pb.h"

namespace nereid {
namespace {

std::string ErrorOf(absl::string_view text) {
  inference::ModelConfig config;
  const absl::Status status = ParseModelConfigText("/m/config.pbtxt", text, &config);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(ParseTest, ReadsAConfiguration) {
  inference::ModelConfig config;
  ASSERT_EQ(ParseModelConfigText("c",
                                 "name: 'm' # comment\nmax_batch_size: 8\n"
                                 "input [ { name: \"I\" data_type: TYPE_FP32 dims: [ -1, 2 ] } ]",
                                 &config),
            absl::OkStatus());
  EXPECT_EQ(config.name(), "m");
  EXPECT_EQ(config.max_batch_size(), 8);
  EXPECT_EQ(config.input(0).dims(0), -1);
}

TEST(ParseTest, EmptyTextIsTheEmptyConfiguration) {
  inference::ModelConfig config;
  EXPECT_EQ(ParseModelConfigText("c", "", &config), absl::OkStatus());
  EXPECT_EQ(config.ByteSizeLong(), 0u);
}

TEST(ParseTest, UnknownFieldsAreAllFoundWithSuggestions) {
  EXPECT_EQ(ErrorOf("name: 'm'\nmax_batch: 8\ninputs [ { name: 'I' } ]\nqqqq: 1\n"
                    "output { nam: 'O' }"),
            "/m/config.pbtxt:2:1: Message type \"inference.ModelConfig\" has no field named "
            "\"max_batch\". (did you mean 'max_batch_size'?)\n"
            "/m/config.pbtxt:3:1: Message type \"inference.ModelConfig\" has no field named "
            "\"inputs\". (did you mean 'input'?)\n"
            "/m/config.pbtxt:4:1: Message type \"inference.ModelConfig\" has no field named "
            "\"qqqq\".\n"
            "/m/config.pbtxt:5:10: Message type \"inference.ModelOutput\" has no field named "
            "\"nam\". (did you mean 'name'?)");
}

TEST(ParseTest, UnknownEnumValueIsReportedWhereItStands) {
  EXPECT_EQ(ErrorOf("input {\n  data_type: TYPE_FLOAT32\n  dims: 1\n}"),
            "/m/config.pbtxt:2:14: Unknown enumeration value of \"TYPE_FLOAT32\" for field "
            "\"data_type\".");
  EXPECT_THAT(ErrorOf("instance_group { kind: KIND_CPUS }"),
              ::testing::HasSubstr("(did you mean 'KIND_CPU'?)"));
  EXPECT_THAT(ErrorOf("input { data_type: TYPE_ }"),
              ::testing::HasSubstr("(one of TYPE_BOOL, TYPE_UINT8, TYPE_UINT16, "));
  EXPECT_THAT(ErrorOf("input { data_type: TYPE_INVALD }"),
              ::testing::Not(::testing::HasSubstr("TYPE_INVALID")));
}

TEST(ParseTest, BadIntegersKeepTheTextsOfProtobufAndDoNotEndTheSearch) {
  EXPECT_EQ(ErrorOf("max_batch_size: \"many\"\n"
                    "dynamic_batching {\n"
                    "\tmax_queue_delay_microseconds: -1\n"
                    "  preferred_batch_size: [ 4, 12345678901 ]\n"
                    "}\n"
                    "nam: 'm'"),
            "/m/config.pbtxt:1:17: Expected integer, got: \"many\"\n"
            "/m/config.pbtxt:3:39: Expected integer, got: -\n"
            "/m/config.pbtxt:4:30: Integer out of range (12345678901)\n"
            "/m/config.pbtxt:6:1: Message type \"inference.ModelConfig\" has no field named "
            "\"nam\". (did you mean 'name'?)");
}

TEST(ParseTest, SyntaxErrorEndsTheSearch) {
  EXPECT_EQ(ErrorOf("nam: 'm'\nmax_batch_size 8\nfoo: 1"),
            "/m/config.pbtxt:1:1: Message type \"inference.ModelConfig\" has no field named "
            "\"nam\". (did you mean 'name'?)\n"
            "/m/config.pbtxt:2:16: Expected \":\", found \"8\".");
}

TEST(ParseTest, StringsMustBeUtf8) {
  EXPECT_EQ(ErrorOf("input { name: 'a\\377' }"),
            "/m/config.pbtxt: the value of 'input.name' is not valid UTF-8");
}

TEST(ParseTest, ManyBadValuesAndDeepNestingEnd) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "input { dims: x }\n";
  EXPECT_THAT(ErrorOf(many), ::testing::StartsWith("/m/config.pbtxt:1:15: "));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "a{";
  EXPECT_NE(ErrorOf(deep), "");
}

}  // namespace
}  // namespace nereid
