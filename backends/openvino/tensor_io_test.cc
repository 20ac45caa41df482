// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/tensor_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/openvino/signature.h"
#include "backends/openvino/testing/models.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;

BoundTensor Tensor(TRITONSERVER_DataType type) {
  BoundTensor tensor;
  tensor.name = "X";
  tensor.type = type;
  tensor.element_size = TRITONSERVER_DataTypeByteSize(type);
  return tensor;
}

TEST(TensorIoTest, ABufferIsUsedWhereItLies) {
  const BoundTensor tensor = Tensor(TRITONSERVER_TYPE_INT32);
  const int32_t data[] = {1, 2};
  Scratch scratch;
  RunInput input;
  input.tensor = &tensor;
  input.shape = {2, 1};
  input.byte_size = sizeof(data);
  input.pieces = {{reinterpret_cast<const char*>(data), sizeof(data)}};
  input.scratch = &scratch;
  const ov::Tensor made = MakeInputTensor(&input);
  EXPECT_EQ(made.data(), data);
  EXPECT_EQ(made.get_shape(), (ov::Shape{2, 1}));
  EXPECT_EQ(made.get_element_type(), ov::element::i32);
}

TEST(TensorIoTest, StringsKeepTheirNulBytes) {
  const BoundTensor tensor = Tensor(TRITONSERVER_TYPE_BYTES);
  const std::string nul("a\0b", 3);
  RunInput input;
  input.tensor = &tensor;
  input.shape = {3};
  input.elements = {nul, "", "long enough to live outside of the string object"};
  const ov::Tensor made = MakeInputTensor(&input);
  RunOutput output;
  output.tensor = &tensor;
  TakeOutputTensor(made, &output);
  EXPECT_THAT(output.shape, ElementsAre(3));
  EXPECT_THAT(output.elements,
              ElementsAre(nul, "", "long enough to live outside of the string object"));
}

TEST(TensorIoTest, AScalarHasNoDimensions) {
  const BoundTensor tensor = Tensor(TRITONSERVER_TYPE_FP32);
  float value = 0;
  RunOutput output;
  output.tensor = &tensor;
  output.place = reinterpret_cast<char*>(&value);
  output.place_size = sizeof(value);
  const ov::Tensor made = MakePlaceTensor(output);
  EXPECT_EQ(made.get_shape(), ov::Shape{});
  EXPECT_EQ(made.data(), &value);
}

TEST(SignatureTest, EveryTypeOfTheProtocolHasItsOwn) {
  for (int i = TRITONSERVER_TYPE_BOOL; i <= TRITONSERVER_TYPE_BF16; ++i) {
    const auto type = static_cast<TRITONSERVER_DataType>(i);
    EXPECT_EQ(FromOvType(ToOvType(type)), type) << i;
    const size_t size = TRITONSERVER_DataTypeByteSize(type);
    if (size > 0) {
      EXPECT_EQ(ToOvType(type).size(), size) << i;
    }
  }
  EXPECT_EQ(FromOvType(ov::element::u4), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(FromOvType(ov::element::f8e4m3), TRITONSERVER_TYPE_INVALID);
}

TEST(SignatureTest, ShapesAndTypesAsTheFileHasThem) {
  const Signature signature =
      ReadSignature(*testing::Same(ov::element::u4, {-1, 3}), ModelConfig());
  ASSERT_EQ(signature.inputs.size(), 1u);
  EXPECT_EQ(signature.inputs[0].name, "X");
  EXPECT_THAT(signature.inputs[0].dims, ElementsAre(-1, 3));
  EXPECT_EQ(signature.inputs[0].type_name, "u4");
  const Signature any =
      ReadSignature(*testing::Same(ov::element::f32, ov::PartialShape::dynamic()), ModelConfig());
  EXPECT_TRUE(any.inputs[0].any_shape);
}

// If a tensor has several names, the one in the configuration is used. Two results of one node
// share its names.
TEST(SignatureTest, NamesAreThoseThatTheConfigurationLists) {
  const auto x = testing::Input("B_NAME", ov::element::f32, {-1});
  x->output(0).add_names({"A_NAME"});
  x->set_friendly_name("node");
  const auto first = std::make_shared<testing::op::Result>(x);
  const auto second = std::make_shared<testing::op::Result>(x);
  const ov::Model model(ov::ResultVector{first, second}, ov::ParameterVector{x});
  const auto names = [&](const std::string& json) {
    const Result<ModelConfig> config = ParseModelConfig(json);
    const Signature signature = ReadSignature(model, *config);
    return Signature::Names(signature.inputs) + " -> " + Signature::Names(signature.outputs);
  };
  EXPECT_EQ(names(R"({"name":"m"})"), "A_NAME -> A_NAME, B_NAME");
  EXPECT_EQ(names(R"({"name":"m","input":[{"name":"B_NAME"}]})"), "B_NAME -> A_NAME, B_NAME");
  const auto unnamed = std::make_shared<testing::op::Parameter>(ov::element::f32, ov::Shape{1});
  unnamed->set_friendly_name("only_the_node");
  const ov::Model without(ov::ResultVector{std::make_shared<testing::op::Result>(unnamed)},
                          ov::ParameterVector{unnamed});
  const Signature signature = ReadSignature(without, ModelConfig());
  EXPECT_EQ(signature.inputs[0].name, "only_the_node");
  EXPECT_EQ(signature.outputs[0].name, "only_the_node");
}

}  // namespace
}  // namespace nereid_backend
