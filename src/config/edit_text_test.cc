// SPDX-License-Identifier: Apache-2.0
#include "config/edit_text.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;

std::string Edited(absl::string_view text, const ConfigChanges& changes) {
  const auto edited = EditConfigText("config.pbtxt", text, changes);
  EXPECT_TRUE(edited.ok()) << edited.status();
  return edited.value_or("");
}

constexpr char kWritten[] = R"(# Ours.
max_batch_size: 8  # at most
instance_group [
  {
    count: 2
    kind: KIND_CPU
  }
]
dynamic_batching {
  preferred_batch_size: [ 4, 8 ]
  max_queue_delay_microseconds: 500
  priority_levels: 2  # }
}
)";

TEST(EditConfigText, ChangesValuesInPlace) {
  EXPECT_EQ(Edited(kWritten, {3, 16, std::vector<int32_t>{16}, 1000}), R"(# Ours.
max_batch_size: 16  # at most
instance_group [
  {
    count: 3
    kind: KIND_CPU
  }
]
dynamic_batching {
  preferred_batch_size: [ 16 ]
  max_queue_delay_microseconds: 1000
  priority_levels: 2  # }
}
)");
}

TEST(EditConfigText, WhatStaysTheSameIsNotTouched) {
  EXPECT_EQ(Edited(kWritten, {2, 8, std::vector<int32_t>{4, 8}, 500}), kWritten);
  EXPECT_EQ(Edited(kWritten, {}), kWritten);
}

TEST(EditConfigText, RemovesWhatIsDefault) {
  EXPECT_THAT(Edited(kWritten, {2, 8, std::vector<int32_t>(), 0}),
              HasSubstr("dynamic_batching {\n  priority_levels: 2  # }\n}\n"));
}

TEST(EditConfigText, RemovesBatching) {
  ConfigChanges changes;
  changes.no_batching = true;
  EXPECT_EQ(Edited(kWritten, changes), R"(# Ours.
max_batch_size: 8  # at most
instance_group [
  {
    count: 2
    kind: KIND_CPU
  }
]
)");
  EXPECT_EQ(Edited("max_batch_size: 8\n", changes), "max_batch_size: 8\n");
}

TEST(EditConfigText, AddsWhatIsMissing) {
  EXPECT_EQ(Edited("", {2, std::nullopt, std::nullopt, std::nullopt}),
            "instance_group [ { count: 2 } ]\n");
  EXPECT_EQ(Edited("max_batch_size: 4", {2, 8, std::vector<int32_t>{8}, 100}),
            "max_batch_size: 8\ninstance_group [ { count: 2 } ]\n"
            "dynamic_batching { preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 100 }\n");
  EXPECT_EQ(Edited("max_batch_size: 4\n", {std::nullopt, 4, std::vector<int32_t>(), 0}),
            "max_batch_size: 4\ndynamic_batching { }\n");
}

TEST(EditConfigText, AddsToMessages) {
  EXPECT_EQ(Edited("dynamic_batching { }\ninstance_group { kind: KIND_CPU }\n",
                   {4, std::nullopt, std::vector<int32_t>(), 7}),
            "dynamic_batching { max_queue_delay_microseconds: 7 }\n"
            "instance_group { kind: KIND_CPU count: 4 }\n");
  EXPECT_EQ(Edited("dynamic_batching {\n  priority_levels: 1\n  default_priority_level: 1\n}\n",
                   {std::nullopt, std::nullopt, std::vector<int32_t>{2}, 0}),
            "dynamic_batching {\n  priority_levels: 1\n  default_priority_level: 1\n"
            "  preferred_batch_size: [ 2 ]\n}\n");
}

TEST(EditConfigText, RepeatedStatementsBecomeOne) {
  EXPECT_EQ(Edited("dynamic_batching { preferred_batch_size: 2 preferred_batch_size: 4 }\n",
                   {std::nullopt, std::nullopt, std::vector<int32_t>{4}, std::nullopt}),
            "dynamic_batching { preferred_batch_size: [ 4 ] }\n");
}

ConfigChanges Parameter(const std::string& key, const std::string& value) {
  ConfigChanges changes;
  changes.parameters[key] = value;
  return changes;
}

TEST(EditConfigText, AddsParameters) {
  EXPECT_EQ(Edited("name: 'm'", Parameter("threads", "2")),
            "name: 'm'\nparameters { key: \"threads\" value { string_value: \"2\" } }\n");
}

TEST(EditConfigText, ChangesTheParameterOfThatName) {
  constexpr char kBefore[] = R"(parameters { key: "a" value: { string_value: "1" } }
parameters {
  key: "threads"  # { "a" }
  value: {
    string_value: "4"
  }
}
)";
  std::string after = kBefore;
  after.replace(after.find("\"4\""), 3, "\"2\"");
  EXPECT_EQ(Edited(kBefore, Parameter("threads", "2")), after);
  EXPECT_EQ(Edited(kBefore, Parameter("threads", "4")), kBefore);
  EXPECT_EQ(
      Edited("parameters [ { key: 'a' value { } }, { key: 't' value { string_value: '4' } } ]",
             Parameter("t", "2")),
      "parameters [ { key: 'a' value { } }, { key: 't' value { string_value: \"2\" } } ]");
  EXPECT_EQ(Edited("parameters { key: 't' }", Parameter("t", "2")),
            "parameters { key: 't' value { string_value: \"2\" } }");
  EXPECT_EQ(Edited("parameters { key: 't' value { } }", Parameter("t", "2")),
            "parameters { key: 't' value { string_value: \"2\" } }");
}

TEST(EditConfigText, ABackendReplacesThePlatform) {
  ConfigChanges changes;
  changes.backend = "openvino";
  EXPECT_EQ(Edited("backend: 'onnxruntime'  # fast\nname: 'm'\n", changes),
            "backend: \"openvino\"  # fast\nname: 'm'\n");
  EXPECT_EQ(Edited("name: 'm'\nplatform: \"onnxruntime_onnx\"\n", changes),
            "name: 'm'\nbackend: \"openvino\"\n");
  EXPECT_EQ(Edited("", changes), "backend: \"openvino\"\n");
  EXPECT_EQ(Edited("backend: 'openvino'", changes), "backend: 'openvino'");
}

TEST(EditConfigText, SaysWhatItCannotDo) {
  EXPECT_THAT(
      EditConfigText("c", "instance_group [ { }, { } ]", {2, {}, {}, {}}).status().message(),
      HasSubstr("has 2 instance groups"));
  EXPECT_THAT(EditConfigText("c", "nonsense", {}).status().message(), HasSubstr("c:1:"));
}

}  // namespace
}  // namespace nereid
