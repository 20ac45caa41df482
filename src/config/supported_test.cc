// SPDX-License-Identifier: Apache-2.0
#include "config/supported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The one field that is reported for a configuration with `text` in it; "" for none.
std::string Field(const std::string& text) {
  Diagnostics diagnostics;
  CheckSupported(ConfigFromText("name: 'm' " + text), &diagnostics);
  if (diagnostics.problems().empty()) return "";
  EXPECT_EQ(diagnostics.problems().size(), 1u) << text;
  const Problem& problem = diagnostics.problems()[0];
  EXPECT_EQ(problem.text, "'" + problem.field + "' is not supported by this server for m");
  EXPECT_EQ(problem.hint,
            "it is for TensorRT, whose models this server does not run; remove it, and serve the "
            "model in another format, such as ONNX");
  return problem.field;
}

TEST(SupportedTest, WhatIsSupportedIsNotReported) {
  EXPECT_EQ(Field("max_batch_size: 8 dynamic_batching { preferred_batch_size: 4 "
                  "max_queue_delay_microseconds: 10 priority_levels: 2 default_priority_level: 1 "
                  "default_queue_policy { max_queue_size: 1 } "
                  "priority_queue_policy { key: 1 value { timeout_action: DELAY } } } "
                  "input { name: 'I' optional: true reshape { shape: [ 1 ] } } "
                  "input { name: 'R' allow_ragged_batch: true } batch_input { } batch_output { } "
                  "instance_group { kind: KIND_CPU count: 2 rate_limiter { priority: 2 } "
                  "host_policy: 'p' passive: true } "
                  "response_cache { enable: true } model_transaction_policy { decoupled: true } "
                  "optimization { graph { level: 1 } execution_accelerators { } } "
                  "model_warmup { name: 's' batch_size: 1 } "
                  "parameters { key: 'k' value { string_value: 'v' } }"),
            "");
}

TEST(SupportedTest, Schedulers) {
  EXPECT_EQ(Field("max_batch_size: 2 sequence_batching { oldest { max_candidate_sequences: 4 } "
                  "iterative_sequence: true control_input { name: 'S' } }"),
            "");
  EXPECT_EQ(Field("ensemble_scheduling { }"), "");
}

TEST(SupportedTest, Tensors) {
  EXPECT_EQ(Field("input { } input { is_shape_tensor: true }"), "input[1].is_shape_tensor");
  EXPECT_EQ(Field("input { is_non_linear_format_io: true }"), "input[0].is_non_linear_format_io");
  EXPECT_EQ(Field("output { is_shape_tensor: true }"), "output[0].is_shape_tensor");
  EXPECT_EQ(Field("output { is_non_linear_format_io: true }"), "output[0].is_non_linear_format_io");
}

TEST(SupportedTest, InstanceGroups) {
  EXPECT_EQ(Field("instance_group { secondary_devices { } }"),
            "instance_group[0].secondary_devices");
  EXPECT_EQ(Field("instance_group { profile: '0' }"), "instance_group[0].profile");
}

TEST(SupportedTest, Others) {
  EXPECT_EQ(Field("metric_tags { key: 'k' value: 'v' } model_metrics { } "
                  "model_operations { op_library_filename: 'f' }"),
            "");
}

TEST(SupportedTest, FieldsWithoutEffectAreNotedEachOnce) {
  EXPECT_THAT(FieldsWithoutEffect(ConfigFromText("name: 'm' backend: 'b'")), IsEmpty());
  const std::vector<std::string> lines = FieldsWithoutEffect(ConfigFromText(
      "name: 'm' optimization { priority: PRIORITY_MAX cuda { } input_pinned_memory { } "
      "output_pinned_memory { } gather_kernel_buffer_threshold: 1 eager_batching: true "
      "graph { level: 1 } } cc_model_filenames { key: '7' value: 'f' }"));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(
      lines[1],
      "model 'm': 'optimization.cuda' has no effect on this server, whose backends do not use it");
}

TEST(SupportedTest, OnlyOneMetricFamilyCanBeChosen) {
  EXPECT_THAT(FieldsWithoutEffect(ConfigFromText(
                  "name: 'm' model_metrics { metric_control { metric_identifier { family: "
                  "'nv_inference_first_response_histogram_ms' } } metric_control { "
                  "metric_identifier { family: 'nv_inference_count' } } }")),
              ElementsAre("Metric family 'nv_inference_count' in 'metric_identifier' is not a "
                          "customizable metric in Triton core."));
}

TEST(SupportedTest, TheNamespaceOfAStepIsReserved) {
  EXPECT_THAT(FieldsWithoutEffect(ConfigFromText("name: 'm' platform: 'ensemble' "
                                                 "ensemble_scheduling { step { model_namespace: "
                                                 "'n' } step { model_namespace: 'n' } }")),
              ElementsAre("model 'm': 'ensemble_scheduling.step.model_namespace' has no effect "
                          "because it is reserved: an ensemble takes models of its own namespace "
                          "first"));
}

TEST(SupportedTest, SettingsOfPriorityLevelsNeedLevels) {
  const std::string settings =
      "default_priority_level: 1 priority_queue_policy { key: 1 value { max_queue_size: 1 } } }";
  const auto lines = [&](const std::string& levels) {
    return FieldsWithoutEffect(ConfigFromText("name: 'm' dynamic_batching { " + levels + settings));
  };
  EXPECT_THAT(lines("priority_levels: 1 "), IsEmpty());
  EXPECT_THAT(
      lines(""),
      ElementsAre("model 'm': 'dynamic_batching.default_priority_level' has no effect without "
                  "priority_levels",
                  "model 'm': 'dynamic_batching.priority_queue_policy' has no effect without "
                  "priority_levels"));
}

}  // namespace
}  // namespace nereid
