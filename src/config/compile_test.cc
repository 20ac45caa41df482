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
      "model_transaction_policy { decoupled: true } "
      "parameters { key: 'k' value { string_value: 'v' } }");
  EXPECT_EQ(model.name, "m");
  EXPECT_EQ(model.version, 3);
  EXPECT_EQ(model.platform, "p");
  EXPECT_EQ(model.backend, "b");
  EXPECT_EQ(model.default_model_filename, "f");
  EXPECT_EQ(model.max_batch_size, 8);
  EXPECT_TRUE(model.decoupled);
  EXPECT_EQ(model.parameters.at("k"), "v");
  EXPECT_THAT(model.json, ::testing::StartsWith("{\"name\":\"m\""));
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

TEST(CompileTest, Instances) {
  const CompiledModel model = Compile(
      "instance_group { name: 'g' kind: KIND_CPU count: 2 } "
      "instance_group { name: 'h' kind: KIND_MODEL count: 1 }");
  ASSERT_EQ(model.instances.size(), 3u);
  EXPECT_EQ(model.instances[1].name, "g_1");
  EXPECT_EQ(model.instances[1].kind, InstanceKind::kCpu);
  EXPECT_EQ(model.instances[1].host_policy_name, "cpu");
  EXPECT_EQ(model.instances[2].name, "h_0");
  EXPECT_EQ(model.instances[2].kind, InstanceKind::kModel);
  EXPECT_EQ(model.instances[2].host_policy_name, "model");
  EXPECT_STREQ(InstanceKindName(InstanceKind::kModel), "KIND_MODEL");
}

}  // namespace
}  // namespace nereid
