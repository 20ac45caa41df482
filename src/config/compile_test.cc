// SPDX-License-Identifier: Apache-2.0
#include "config/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

CompiledModel Compile(absl::string_view text) { return CompileModel(ConfigFromText(text), 3); }

TEST(CompileTest, Identity) {
  const CompiledModel model = Compile(
      "name: 'm' platform: 'p' backend: 'b' default_model_filename: 'f' max_batch_size: 8 "
      "model_transaction_policy { decoupled: true } response_cache { enable: true } "
      "parameters { key: 'k' value { string_value: 'v' } }");
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.version, 3);
  EXPECT_EQ(model.platform, "p");
  EXPECT_EQ(model.backend, "b");
  EXPECT_EQ(model.default_model_filename, "f");
  EXPECT_EQ(model.max_batch_size, 8);
  EXPECT_TRUE(model.decoupled);
  EXPECT_TRUE(model.response_cache);
  EXPECT_EQ(model.parameters.at("k"), "v");
  EXPECT_THAT(model.json, ::testing::StartsWith("{\"name\":\"m\""));
}

TEST(CompileTest, Metrics) {
  const CompiledModel plain = Compile("name: 'm'");
  EXPECT_TRUE(plain.metric_tags.empty());
  EXPECT_EQ(plain.first_response_ms, std::nullopt);
  const CompiledModel model = Compile(
      "metric_tags { key: 'team' value: 'blue' } model_metrics { "
      "metric_control { metric_identifier { family: 'nv_inference_count' } "
      "histogram_options { buckets: [ 7 ] } } "
      "metric_control { metric_identifier { family: 'nv_inference_first_response_histogram_ms' } "
      "histogram_options { buckets: [ 1.5, 2 ] } } }");
  EXPECT_THAT(model.metric_tags, ElementsAre(std::pair("team", "blue")));
  EXPECT_THAT(*model.first_response_ms, ElementsAre(1.5, 2));
}

TEST(CompileTest, Tensors) {
  const CompiledModel model = Compile(
      "input { name: 'A' data_type: TYPE_INT32 dims: [ 2, 3 ] reshape { shape: [ 6 ] } } "
      "input { name: 'B' data_type: TYPE_STRING dims: [ 1 ] optional: true } "
      "input { name: 'C' data_type: TYPE_BF16 dims: [ -1 ] } "
      "output { name: 'A' data_type: TYPE_BOOL dims: [ 1 ] reshape { shape: [ ] } "
      "label_filename: 'l' }");
  ASSERT_EQ(model.inputs.size(), 3u);
  EXPECT_EQ(model.inputs[0].data_type, DataType::kInt32);
  EXPECT_EQ(model.inputs[0].dims, (Shape{2, 3}));
  EXPECT_EQ(model.inputs[0].reshape, Shape{6});
  EXPECT_EQ(model.inputs[0].byte_size, 24);
  EXPECT_EQ(model.inputs[1].data_type, DataType::kBytes);
  EXPECT_EQ(model.inputs[1].byte_size, std::nullopt);
  EXPECT_EQ(model.inputs[1].reshape, std::nullopt);
  EXPECT_TRUE(model.inputs[1].optional);
  EXPECT_EQ(model.inputs[2].data_type, DataType::kBf16);
  EXPECT_EQ(model.inputs[2].byte_size, std::nullopt);
  EXPECT_EQ(model.required_input_count, 2u);
  EXPECT_TRUE(model.has_optional_inputs);
  EXPECT_EQ(model.outputs[0].reshape, Shape{});
  EXPECT_EQ(model.outputs[0].label_filename, "l");

  EXPECT_EQ(model.FindInput("C"), 2);
  EXPECT_EQ(model.FindInput("D"), -1);
  EXPECT_EQ(model.FindInput(""), -1);
  EXPECT_EQ(model.FindOutput("A"), 0);
  EXPECT_EQ(model.FindOutput("B"), -1);
}

TEST(CompileTest, EqualShapesAreNeededWhereDimensionsVary) {
  EXPECT_FALSE(Compile("input { dims: [ 2 ] }").needs_shape_equality);
  EXPECT_TRUE(Compile("input { dims: [ 2 ] } input { dims: [ 2, -1 ] }").needs_shape_equality);
  EXPECT_FALSE(Compile("input { dims: [ -1 ] allow_ragged_batch: true }").needs_shape_equality);
}

TEST(CompileTest, Batching) {
  EXPECT_FALSE(Compile("max_batch_size: 8").batching.enabled);
  const BatchingOptions options =
      Compile(
          "max_batch_size: 8 dynamic_batching { preferred_batch_size: [ 8, 2, 4, 2 ] "
          "max_queue_delay_microseconds: 100 }")
          .batching;
  EXPECT_TRUE(options.enabled);
  EXPECT_THAT(options.preferred_batch_sizes, ElementsAre(2, 4, 8));
  EXPECT_EQ(options.max_queue_delay, std::chrono::microseconds(100));
}

TEST(CompileTest, EndlessQueueDelayDoesNotOverflow) {
  const BatchingOptions options =
      Compile("dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 }").batching;
  EXPECT_GT(options.max_queue_delay, std::chrono::hours(24 * 365 * 100));
}

TEST(CompileTest, QueuePolicies) {
  const BatchingOptions none = Compile("dynamic_batching { }").batching;
  EXPECT_FALSE(none.preserve_ordering);
  EXPECT_EQ(none.LevelOf(7), 0u);
  EXPECT_FALSE(none.default_queue_policy.MayTimeOut());

  const BatchingOptions options =
      Compile(
          "dynamic_batching { preserve_ordering: true priority_levels: 5 "
          "default_priority_level: 4 default_queue_policy { max_queue_size: 3 } "
          "priority_queue_policy { key: 2 value { timeout_action: DELAY "
          "default_timeout_microseconds: 70 allow_timeout_override: true } } }")
          .batching;
  EXPECT_TRUE(options.preserve_ordering);
  EXPECT_EQ(options.LevelOf(0), 4u);
  EXPECT_EQ(options.LevelOf(5), 5u);
  EXPECT_EQ(options.PolicyOf(1).max_queue_size, 3u);
  EXPECT_EQ(options.PolicyOf(1).timeout_action, QueuePolicy::TimeoutAction::kReject);
  const QueuePolicy& own = options.PolicyOf(2);
  EXPECT_EQ(own.max_queue_size, 0u);
  EXPECT_EQ(own.timeout_action, QueuePolicy::TimeoutAction::kDelay);
  EXPECT_EQ(own.default_timeout, std::chrono::microseconds(70));
  EXPECT_TRUE(own.allow_timeout_override);
}

TEST(CompileTest, DirectSequences) {
  const CompiledModel model = Compile(
      "max_batch_size: 4 sequence_batching { max_sequence_idle_microseconds: 7 "
      "direct { max_queue_delay_microseconds: 5 minimum_slot_utilization: 0.5 } "
      "control_input { name: 'S' control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 2, 3 ] "
      "} } control_input { name: 'E' control { kind: CONTROL_SEQUENCE_END fp32_false_true: [ 0, 1 "
      "] "
      "} } control_input { name: 'R' control { kind: CONTROL_SEQUENCE_READY "
      "bool_false_true: [ false, true ] } } "
      "control_input { name: 'I' control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING } "
      "} }");
  const SequenceOptions& options = model.sequence;
  EXPECT_TRUE(options.enabled);
  EXPECT_FALSE(options.oldest);
  EXPECT_FALSE(options.iterative);
  EXPECT_EQ(options.slots, 4u);
  EXPECT_EQ(options.max_idle, std::chrono::microseconds(7));
  EXPECT_EQ(options.max_queue_delay, std::chrono::microseconds(5));
  EXPECT_EQ(options.minimum_slot_utilization, 0.5f);
  EXPECT_FALSE(model.batching.enabled);
  ASSERT_EQ(options.controls.size(), 4u);
  EXPECT_EQ(options.controls[0].input, "S");
  EXPECT_EQ(options.controls[0].kind, SequenceControl::Kind::kStart);
  EXPECT_EQ(options.controls[0].data_type, DataType::kInt32);
  EXPECT_EQ(options.controls[0].false_value, std::string("\2\0\0\0", 4));
  EXPECT_EQ(options.controls[0].true_value, std::string("\3\0\0\0", 4));
  EXPECT_EQ(options.controls[1].kind, SequenceControl::Kind::kEnd);
  EXPECT_EQ(options.controls[1].data_type, DataType::kFp32);
  EXPECT_EQ(options.controls[1].true_value, std::string("\0\0\x80\x3f", 4));
  EXPECT_EQ(options.controls[2].kind, SequenceControl::Kind::kReady);
  EXPECT_EQ(options.controls[2].data_type, DataType::kBool);
  EXPECT_EQ(options.controls[2].true_value, std::string("\1", 1));
  EXPECT_EQ(options.controls[3].kind, SequenceControl::Kind::kCorrelationId);
  EXPECT_EQ(options.controls[3].data_type, DataType::kBytes);
}

TEST(CompileTest, OldestSequences) {
  const CompiledModel model = Compile(
      "max_batch_size: 4 sequence_batching { iterative_sequence: true oldest { "
      "max_candidate_sequences: 9 preferred_batch_size: [ 4, 2, 4 ] "
      "max_queue_delay_microseconds: 5 preserve_ordering: true } }");
  EXPECT_TRUE(model.sequence.oldest);
  EXPECT_TRUE(model.sequence.iterative);
  EXPECT_EQ(model.sequence.slots, 9u);
  EXPECT_TRUE(model.batching.enabled);
  EXPECT_TRUE(model.batching.preserve_ordering);
  EXPECT_THAT(model.batching.preferred_batch_sizes, ElementsAre(2, 4));
  EXPECT_EQ(model.batching.max_queue_delay, std::chrono::microseconds(5));
  // As many slots as a batch has places; one slot without batching.
  EXPECT_EQ(Compile("max_batch_size: 4 sequence_batching { oldest { } }").sequence.slots, 4u);
  EXPECT_EQ(Compile("sequence_batching { oldest { } }").sequence.slots, 1u);
  EXPECT_EQ(Compile("sequence_batching { }").sequence.slots, 1u);
}

TEST(CompileTest, Warmup) {
  const CompiledModel model = Compile(
      "model_warmup { name: 's' batch_size: 2 inputs { key: 'B' value { data_type: TYPE_FP32 "
      "dims: [ 2, 3 ] random_data: true } } inputs { key: 'A' value { data_type: TYPE_STRING "
      "dims: [ 1 ] input_data_file: 'f' } } } "
      "model_warmup { count: 3 inputs { key: 'C' value { zero_data: true } } "
      "inputs { key: 'D' value { } } }");
  ASSERT_EQ(model.warmup.size(), 2u);
  const WarmupSpec& first = model.warmup[0];
  EXPECT_EQ(first.name, "s");
  EXPECT_EQ(first.batch_size, 2u);
  EXPECT_EQ(first.count, 1u);
  ASSERT_EQ(first.inputs.size(), 2u);
  EXPECT_EQ(first.inputs[0].name, "A");
  EXPECT_EQ(first.inputs[0].data_type, DataType::kBytes);
  EXPECT_EQ(first.inputs[0].data, WarmupData::kFile);
  EXPECT_EQ(first.inputs[0].file, "f");
  EXPECT_EQ(first.inputs[1].dims, (Shape{2, 3}));
  EXPECT_EQ(first.inputs[1].data, WarmupData::kRandom);
  const WarmupSpec& second = model.warmup[1];
  EXPECT_EQ(second.batch_size, 0u);
  EXPECT_EQ(second.count, 3u);
  EXPECT_EQ(second.inputs[0].data, WarmupData::kZero);
  EXPECT_EQ(second.inputs[1].data, WarmupData::kNone);
}

TEST(CompileTest, Instances) {
  const CompiledModel model = Compile(
      "instance_group { name: 'g' kind: KIND_CPU count: 2 } "
      "instance_group { name: 'h' kind: KIND_MODEL count: 1 } "
      "instance_group { name: 'i' kind: KIND_CPU count: 1 passive: true host_policy: 'p' }");
  ASSERT_EQ(model.instances.size(), 4u);
  EXPECT_FALSE(model.instances[0].passive);
  EXPECT_TRUE(model.instances[3].passive);
  EXPECT_EQ(model.instances[3].host_policy_name, "p");
  EXPECT_EQ(model.instances[1].name, "g_1");
  EXPECT_EQ(model.instances[1].kind, InstanceKind::kCpu);
  EXPECT_EQ(model.instances[1].host_policy_name, "cpu");
  EXPECT_EQ(model.instances[2].name, "h_0");
  EXPECT_EQ(model.instances[2].kind, InstanceKind::kModel);
  EXPECT_EQ(model.instances[2].host_policy_name, "model");
  EXPECT_STREQ(InstanceKindName(InstanceKind::kModel), "KIND_MODEL");
  EXPECT_TRUE(model.instances[0].resources.empty());
  EXPECT_EQ(model.instances[0].rate_priority, 1u);
}

TEST(CompileTest, InstancesOnGpus) {
  const CompiledModel model = Compile(
      "instance_group { name: 'g' kind: KIND_GPU count: 2 gpus: [ 2, 0 ] passive: true } "
      "instance_group { name: 'h' kind: KIND_GPU count: 1 gpus: 1 host_policy: 'p' }");
  std::vector<std::string> instances;
  for (const InstanceSpec& instance : model.instances) {
    EXPECT_EQ(instance.kind, InstanceKind::kGpu);
    instances.push_back(absl::StrCat(instance.name, " on ", instance.device_id, " by ",
                                     instance.host_policy_name,
                                     instance.passive ? " passive" : ""));
  }
  EXPECT_THAT(instances,
              testing::ElementsAre("g_0 on 2 by gpu_2 passive", "g_0 on 0 by gpu_0 passive",
                                   "g_1 on 2 by gpu_2 passive", "g_1 on 0 by gpu_0 passive",
                                   "h_0 on 1 by p"));
}

TEST(CompileTest, RateLimiter) {
  const InstanceSpec instance =
      Compile(
          "instance_group { name: 'g' kind: KIND_CPU count: 1 rate_limiter { priority: 3 "
          "resources { name: 'R' count: 4 } resources { name: 'G' global: true count: 1 } } }")
          .instances[0];
  EXPECT_EQ(instance.rate_priority, 3u);
  ASSERT_EQ(instance.resources.size(), 2u);
  EXPECT_EQ(instance.resources[0].name, "R");
  EXPECT_FALSE(instance.resources[0].global);
  EXPECT_EQ(instance.resources[0].count, 4u);
  EXPECT_TRUE(instance.resources[1].global);
}

TEST(CompileTest, Ensemble) {
  const EnsembleSpec ensemble =
      Compile(
          "platform: 'ensemble' ensemble_scheduling { max_inflight_requests: 5 "
          "step { model_name: 'x' model_version: -1 "
          "input_map { key: 'J' value: 'b' } input_map { key: 'I' value: 'a' } "
          "output_map { key: 'O' value: 'c' } } step { model_name: 'y' model_version: 2 } }")
          .ensemble;
  EXPECT_EQ(ensemble.max_inflight_requests, 5u);
  ASSERT_EQ(ensemble.steps.size(), 2u);
  const EnsembleStep& step = ensemble.steps[0];
  EXPECT_EQ(step.model_name, "x");
  EXPECT_EQ(step.model_version, -1);
  ASSERT_EQ(step.inputs.size(), 2u);
  EXPECT_EQ(step.inputs[0].name, "I");
  EXPECT_EQ(step.inputs[0].tensor, "a");
  EXPECT_EQ(step.inputs[1].name, "J");
  ASSERT_EQ(step.outputs.size(), 1u);
  EXPECT_EQ(step.outputs[0].tensor, "c");
  EXPECT_EQ(ensemble.steps[1].model_version, 2);
  EXPECT_TRUE(Compile("name: 'm'").ensemble.steps.empty());
}

}  // namespace
}  // namespace nereid
