// SPDX-License-Identifier: Apache-2.0
#include "config/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

std::string Json(absl::string_view text) { return ModelConfigToJson(ConfigFromText(text)); }

TEST(JsonTest, EmptyConfigurationIsEmptyText) {
  EXPECT_EQ(ModelConfigToJson(inference::ModelConfig()), "");
}

TEST(JsonTest, DefaultsArePrintedButNotMessagesThatAreNotSet) {
  EXPECT_EQ(Json("name: 'm'"),
            R"({"name":"m","platform":"","backend":"","runtime":"","max_batch_size":0,"input":[],)"
            R"("output":[],"batch_input":[],"batch_output":[],"instance_group":[],)"
            R"("default_model_filename":"","cc_model_filenames":{},"metric_tags":{},)"
            R"("parameters":{},"model_warmup":[]})");
}

TEST(JsonTest, ListedFieldsAreNumbers) {
  EXPECT_THAT(Json("input { dims: [ -1, 9007199254740993 ] reshape { shape: [ 16 ] } }"),
              HasSubstr(R"("dims":[-1,9007199254740993],"reshape":{"shape":[16]})"));
  EXPECT_THAT(Json("output { dims: [ 2 ] reshape { shape: [ ] } }"),
              HasSubstr(R"("dims":[2],"reshape":{"shape":[]},)"));
  EXPECT_THAT(Json("version_policy { specific { versions: [ 1, 3 ] } }"),
              HasSubstr(R"("version_policy":{"specific":{"versions":[1,3]}})"));
  EXPECT_THAT(Json("dynamic_batching { max_queue_delay_microseconds: 42 "
                   "priority_levels: 18446744073709551615 default_priority_level: 2 "
                   "default_queue_policy { default_timeout_microseconds: 5 } "
                   "priority_queue_policy { key: 7 value { default_timeout_microseconds: 6 } } }"),
              AllOf(HasSubstr(R"("max_queue_delay_microseconds":42)"),
                    HasSubstr(R"("priority_levels":18446744073709551615)"),
                    HasSubstr(R"("default_priority_level":2)"),
                    HasSubstr(R"("default_timeout_microseconds":5)"),
                    HasSubstr(R"("default_timeout_microseconds":6)"), HasSubstr(R"({"7":{)")));
  EXPECT_THAT(Json("sequence_batching { max_sequence_idle_microseconds: 8 "
                   "oldest { max_queue_delay_microseconds: 9 } state { dims: [ 3 ] "
                   "initial_state { dims: [ 4 ] } } }"),
              AllOf(HasSubstr(R"("max_sequence_idle_microseconds":8)"),
                    HasSubstr(R"("max_queue_delay_microseconds":9)"), HasSubstr(R"("dims":[3])"),
                    HasSubstr(R"("dims":["4"])")));
  EXPECT_THAT(Json("sequence_batching { direct { max_queue_delay_microseconds: 9 } }"),
              HasSubstr(R"("max_queue_delay_microseconds":9)"));
  EXPECT_THAT(Json("ensemble_scheduling { step { model_version: -1 } }"),
              HasSubstr(R"("model_version":-1)"));
  EXPECT_THAT(Json("model_warmup { inputs { key: 'I' value { dims: [ 1 ] } } }"),
              HasSubstr(R"("dims":[1])"));
}

TEST(JsonTest, OtherSixtyFourBitFieldsStayStrings) {
  EXPECT_THAT(Json("instance_group { secondary_devices { device_id: 3 } }"),
              HasSubstr(R"("device_id":"3")"));
  EXPECT_THAT(
      Json("optimization { cuda { graph_spec { input { key: 'dims' value { dim: 4 } } } } }"),
      HasSubstr(R"("dim":["4"])"));
}

TEST(JsonTest, TextThatLooksLikeAPathOrANumberIsLeftAlone) {
  const std::string json = Json(
      "parameters { key: 'input.dims' value { string_value: '5' } } "
      "parameters { key: 'dims' value { string_value: '{\"input\":[{\"dims\":[\"6\"' } } "
      "parameters { key: 'quote\"\\\\' value { string_value: '7' } }");
  inference::ModelConfig config;
  ASSERT_EQ(ModelConfigFromJson(json, &config), absl::OkStatus());
  EXPECT_EQ(config.parameters().at("input.dims").string_value(), "5");
  EXPECT_EQ(config.parameters().at("dims").string_value(), "{\"input\":[{\"dims\":[\"6\"");
  EXPECT_EQ(config.parameters().at("quote\"\\").string_value(), "7");
  EXPECT_THAT(json, HasSubstr(R"("string_value":"7")"));
}

TEST(JsonTest, ReadsItsOwnOutput) {
  const inference::ModelConfig config = ConfigFromText(
      "name: 'm' backend: 'b' input { name: 'I' data_type: TYPE_INT64 dims: [ -1, 3 ] } "
      "dynamic_batching { max_queue_delay_microseconds: 42 } "
      "parameters { key: 'k' value { string_value: 'v\\n\\t<>\\303\\244' } } "
      "instance_group { kind: KIND_CPU count: 2 }");
  inference::ModelConfig back;
  ASSERT_EQ(ModelConfigFromJson(ModelConfigToJson(config), &back), absl::OkStatus());
  EXPECT_EQ(back.SerializeAsString(), config.SerializeAsString());
}

TEST(JsonTest, MapsAreInOrder) {
  std::string text;
  for (const char* key : {"d", "b", "a", "c"}) {
    text += std::string("parameters { key: '") + key + "' value { } } ";
  }
  EXPECT_THAT(Json(text), HasSubstr(R"("parameters":{"a":{"string_value":""},"b":{"string_value":)"
                                    R"(""},"c":{"string_value":""},"d":{"string_value":""}})"));
}

TEST(JsonTest, ReadsEnumsInAnyCaseAndNumbersEitherWay) {
  inference::ModelConfig config;
  ASSERT_EQ(ModelConfigFromJson(
                R"({"input":[{"name":"I","data_type":"type_fp32","dims":[1,"2"]}]})", &config),
            absl::OkStatus());
  EXPECT_EQ(config.input(0).data_type(), inference::TYPE_FP32);
  EXPECT_EQ(config.input(0).dims(1), 2);
}

TEST(JsonTest, RefusesUnknownFieldsAndBadText) {
  inference::ModelConfig config;
  const absl::Status unknown = ModelConfigFromJson(R"({"max_batch":1})", &config);
  EXPECT_TRUE(absl::IsInvalidArgument(unknown));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("max_batch: Cannot find field."));
  for (const char* text :
       {"", "{", "[]", "{\"name\":1", "nonsense", "{\"max_batch_size\":\"x\"}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ModelConfigFromJson(text, &config))) << text;
  }
}

TEST(JsonTest, OnlyVersionOne) {
  EXPECT_EQ(CheckConfigVersion(1), absl::OkStatus());
  EXPECT_EQ(CheckConfigVersion(2),
            absl::InvalidArgumentError("model configuration version 2 not supported, supported "
                                       "versions are: 1"));
}

}  // namespace
}  // namespace nereid
