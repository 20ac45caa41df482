// SPDX-License-Identifier: Apache-2.0
#include "config/normalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"

namespace nereid {
namespace {

// Field by field equal to a configuration given as text.
void ExpectConfig(const inference::ModelConfig& actual, absl::string_view expected) {
  EXPECT_EQ(actual.DebugString(), ConfigFromText(expected).DebugString());
}

std::string Normal(absl::string_view text) {
  inference::ModelConfig config = ConfigFromText(text);
  NormalizeConfig(&config);
  const std::string once = config.DebugString();
  NormalizeConfig(&config);
  EXPECT_EQ(config.DebugString(), once) << "not idempotent";
  return once;
}

TEST(NormalizeTest, WritesVersionPolicyAndPinnedMemory) {
  EXPECT_EQ(Normal("name: 'm'"),
            ConfigFromText("name: 'm' version_policy { latest { num_versions: 1 } } "
                           "optimization { input_pinned_memory { enable: true } "
                           "output_pinned_memory { enable: true } }")
                .DebugString());
}

TEST(NormalizeTest, KeepsWhatIsGiven) {
  constexpr char kText[] =
      "max_batch_size: 8 version_policy { all { } } "
      "optimization { input_pinned_memory { enable: false } output_pinned_memory { } } "
      "dynamic_batching { preferred_batch_size: 2 }";
  EXPECT_EQ(Normal(kText), ConfigFromText(kText).DebugString());
}

TEST(NormalizeTest, EnsemblesGetNoOptimization) {
  EXPECT_EQ(Normal("platform: 'ensemble'"),
            ConfigFromText("platform: 'ensemble' version_policy { latest { num_versions: 1 } }")
                .DebugString());
}

TEST(NormalizeTest, PreferredBatchSizeDefaultsToTheLargest) {
  const auto preferred = [](absl::string_view text) {
    inference::ModelConfig config = ConfigFromText(text);
    NormalizeConfig(&config);
    return config.dynamic_batching().preferred_batch_size_size() == 0
               ? 0
               : config.dynamic_batching().preferred_batch_size(0);
  };
  EXPECT_EQ(preferred("max_batch_size: 8 dynamic_batching { }"), 8);
  EXPECT_EQ(preferred("max_batch_size: 0 dynamic_batching { }"), 0);
  EXPECT_EQ(preferred("max_batch_size: 8"), 0);
}

TEST(NormalizeTest, SequenceDefaults) {
  inference::ModelConfig config =
      ConfigFromText("max_batch_size: 4 sequence_batching { oldest { } }");
  NormalizeConfig(&config);
  EXPECT_EQ(config.sequence_batching().max_sequence_idle_microseconds(), 1'000'000u);
  EXPECT_EQ(config.sequence_batching().oldest().preferred_batch_size(0), 4);
}

inference::ModelConfig Groups(absl::string_view text,
                              const std::vector<PreferredGroup>& preferred = {}) {
  inference::ModelConfig config = ConfigFromText(text);
  PlacementRules rules;
  rules.preferred = preferred;
  EXPECT_TRUE(NormalizeInstanceGroups(rules, &config).empty()) << "no GPUs: nothing to explain";
  return config;
}

TEST(NormalizeTest, DefaultGroupIsOneCpuInstance) {
  ExpectConfig(Groups("name: 'm'"),
               "name: 'm' instance_group { name: 'm' kind: KIND_CPU count: 1 }");
}

TEST(NormalizeTest, OnnxRuntimeAndTensorFlowGetTwoOnCpu) {
  ExpectConfig(Groups("name: 'm' backend: 'onnxruntime'"),
               "name: 'm' backend: 'onnxruntime' "
               "instance_group { name: 'm' kind: KIND_CPU count: 2 }");
  ExpectConfig(Groups("name: 'm' backend: 'tensorflow' instance_group { kind: KIND_MODEL }"),
               "name: 'm' backend: 'tensorflow' "
               "instance_group { name: 'm_0' kind: KIND_MODEL count: 1 }");
}

TEST(NormalizeTest, BackendPreferenceFillsTheDefaultGroup) {
  ExpectConfig(Groups("name: 'm'", {{InstanceKind::kGpu, 2, {0}}, {InstanceKind::kModel, 3, {}}}),
               "name: 'm' instance_group { name: 'm' kind: KIND_MODEL count: 3 }");
  ExpectConfig(Groups("name: 'm'", {{InstanceKind::kAuto, 4, {}}}),
               "name: 'm' instance_group { name: 'm' kind: KIND_CPU count: 4 }");
}

TEST(NormalizeTest, BackendPreferenceOfTheSameKindFillsTheCount) {
  ExpectConfig(Groups("name: 'm' instance_group { } instance_group { count: 2 } "
                      "instance_group { kind: KIND_MODEL name: 'g' }",
                      {{InstanceKind::kCpu, 5, {}}}),
               "name: 'm' instance_group { name: 'm_0' kind: KIND_CPU count: 5 } "
               "instance_group { name: 'm_1' kind: KIND_CPU count: 2 } "
               "instance_group { name: 'g' kind: KIND_MODEL count: 1 }");
}

constexpr char kGroups[] =
    "name: 'm' backend: 'b' instance_group { } instance_group { kind: KIND_GPU count: 2 } "
    "instance_group { gpus: [ 2, 0 ] } instance_group { gpus: [ 0, 7 ] } "
    "instance_group { kind: KIND_CPU } instance_group { kind: KIND_MODEL }";

TEST(NormalizeTest, WithGpusGroupsAreOnAllThatAreInUse) {
  PlacementRules rules;
  rules.gpus = {0, 2};
  inference::ModelConfig config = ConfigFromText(kGroups);
  const std::vector<std::string> lines = NormalizeInstanceGroups(rules, &config);
  ExpectConfig(config,
               "name: 'm' backend: 'b' "
               "instance_group { name: 'm_0' kind: KIND_GPU count: 1 gpus: [ 0, 2 ] } "
               "instance_group { name: 'm_1' kind: KIND_GPU count: 2 gpus: [ 0, 2 ] } "
               "instance_group { name: 'm_2' kind: KIND_GPU count: 1 gpus: [ 2, 0 ] } "
               "instance_group { name: 'm_3' kind: KIND_CPU count: 1 gpus: [ 0, 7 ] } "
               "instance_group { name: 'm_4' kind: KIND_CPU count: 1 } "
               "instance_group { name: 'm_5' kind: KIND_MODEL count: 1 }");
  EXPECT_THAT(
      lines,
      testing::ElementsAre(
          "instance group m_0 of model m runs on each of the GPUs 0, 2 with 1 instance",
          "instance group m_1 of model m runs on each of the GPUs 0, 2 with 2 instances",
          "instance group m_2 of model m runs on each of the GPUs 2, 0 with 1 instance",
          "instance group m_3 of model m runs on the CPU: it names a GPU that is not in use",
          "instance group m_4 of model m runs on the CPU: its kind is KIND_CPU",
          "instance group m_5 of model m runs where the model chooses: its kind is KIND_MODEL"));
}

TEST(NormalizeTest, ABackendThatComputesOnCpusStaysThere) {
  PlacementRules rules;
  rules.gpus = {0};
  rules.computes_on_cpus = true;
  rules.preferred = {{InstanceKind::kGpu, 2, {}}};
  inference::ModelConfig config = ConfigFromText("name: 'm' backend: 'b'");
  EXPECT_THAT(NormalizeInstanceGroups(rules, &config),
              testing::ElementsAre(
                  "instance group m of model m runs on the CPU: backend 'b' computes on CPUs"));
  ExpectConfig(config,
               "name: 'm' backend: 'b' instance_group { name: 'm' kind: KIND_CPU count: 1 }");
}

TEST(NormalizeTest, WithGpusABackendPrefersSomeOfThem) {
  PlacementRules rules;
  rules.gpus = {0, 2};
  rules.preferred = {{InstanceKind::kGpu, 3, {1, 2}}};
  inference::ModelConfig config = ConfigFromText("name: 'm'");
  NormalizeInstanceGroups(rules, &config);
  ExpectConfig(config, "name: 'm' instance_group { name: 'm' kind: KIND_GPU count: 3 gpus: 2 }");
  config = ConfigFromText("name: 'm' instance_group { } instance_group { gpus: 0 }");
  NormalizeInstanceGroups(rules, &config);
  ExpectConfig(config,
               "name: 'm' instance_group { name: 'm_0' kind: KIND_GPU count: 3 gpus: 2 } "
               "instance_group { name: 'm_1' kind: KIND_GPU count: 3 gpus: 0 }");
  rules.preferred = {{InstanceKind::kGpu, 3, {1}}};
  config = ConfigFromText("name: 'm' instance_group { }");
  NormalizeInstanceGroups(rules, &config);
  ExpectConfig(config,
               "name: 'm' instance_group { name: 'm_0' kind: KIND_GPU count: 1 gpus: [ 0, 2 ] }");
  rules.preferred = {{InstanceKind::kCpu, 0, {}}};
  config = ConfigFromText("name: 'm' backend: 'b'");
  EXPECT_THAT(NormalizeInstanceGroups(rules, &config),
              testing::ElementsAre(
                  "instance group m of model m runs on the CPU: backend 'b' prefers that"));
}

TEST(NormalizeTest, EnsemblesGetNoInstances) {
  EXPECT_TRUE(Groups("platform: 'ensemble'").instance_group().empty());
}

}  // namespace
}  // namespace nereid
