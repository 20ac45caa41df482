// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/tensor_io.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/types.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TorchTensorTest : public ::testing::Test {
 protected:
  TorchTensorTest() {
    tensor_.name = "x";
    tensor_.type = TRITONSERVER_TYPE_FP32;
    tensor_.element_size = sizeof(float);
    input_.tensor = &tensor_;
    input_.shape = {3};
    input_.byte_size = sizeof(data_);
    input_.pieces = {Piece{reinterpret_cast<const char*>(data_), sizeof(data_)}};
    input_.scratch = &scratch_;
    output_.tensor = &tensor_;
  }

  const c10::InferenceMode inference_;
  float data_[3] = {1, 2, 3};
  BoundTensor tensor_;
  Scratch scratch_;
  RunInput input_;
  RunOutput output_;
  at::Tensor kept_;
};

TEST_F(TorchTensorTest, AnInputIsUsedWhereItLies) {
  at::Tensor view = ViewInput(&input_);
  EXPECT_EQ(view.const_data_ptr(), data_);
  LetGo(&view);
  EXPECT_FALSE(view.defined());
}

// A tensor that the network keeps does not change when the request's memory is reused.
TEST_F(TorchTensorTest, WhatIsKeptIsCopied) {
  at::Tensor view = ViewInput(&input_);
  const at::Tensor whole = view;
  const at::Tensor part = view.slice(0, 1);
  LetGo(&view);
  data_[1] = -1;
  EXPECT_NE(whole.const_data_ptr(), data_);
  EXPECT_EQ(whole.const_data_ptr<float>()[1], 2);
  EXPECT_EQ(part.const_data_ptr<float>()[0], 2);
}

TEST_F(TorchTensorTest, ACopyIsACopy) {
  const at::Tensor copy = CopyInput(input_);
  data_[0] = -1;
  EXPECT_EQ(copy.const_data_ptr<float>()[0], 1);
}

TEST_F(TorchTensorTest, AnOutputThatIsNotContiguous) {
  input_.shape = {1, 3};
  const at::Tensor view = ViewInput(&input_);
  ASSERT_TRUE(TakeOutput(view.t(), &output_, &kept_).ok());
  EXPECT_THAT(output_.shape, ElementsAre(3, 1));
  EXPECT_EQ(reinterpret_cast<const float*>(output_.data)[2], 3);
}

TEST_F(TorchTensorTest, OtherTypesAreNamed) {
  tensor_.type = TRITONSERVER_TYPE_INT32;
  tensor_.element_size = 4;
  const at::Tensor floats = at::empty({1});
  Error error = TakeOutput(floats, &output_, &kept_);
  ASSERT_FALSE(error.ok());
  EXPECT_STREQ(error.message(),
               "configuration expects datatype TYPE_INT32 for output 'x', model provides "
               "TYPE_FP32");
  error = TakeOutput(at::empty({1}, at::kComplexFloat), &output_, &kept_);
  EXPECT_THAT(error.message(), HasSubstr("model provides Complex"));
  error = TakeOutput(c10::IValue(3), &output_, &kept_);
  EXPECT_THAT(error.message(), HasSubstr("must be of type Tensor or List[str], received int"));
  error = TakeOutput(c10::List<std::string>({"a"}), &output_, &kept_);
  EXPECT_THAT(error.message(), HasSubstr("model provides TYPE_STRING"));
}

TEST_F(TorchTensorTest, Strings) {
  tensor_.type = TRITONSERVER_TYPE_BYTES;
  tensor_.element_size = 0;
  input_.elements = {std::string_view("a\0b", 3), ""};
  const c10::IValue list = ListInput(input_);
  ASSERT_TRUE(TakeOutput(list, &output_, &kept_).ok());
  EXPECT_THAT(output_.shape, ElementsAre(2));
  EXPECT_THAT(output_.elements, ElementsAre(std::string_view("a\0b", 3), ""));
}

TEST(TorchTypesTest, EveryTypeThatBothHaveGoesThereAndBack) {
  for (int i = TRITONSERVER_TYPE_BOOL; i <= TRITONSERVER_TYPE_BF16; ++i) {
    const auto type = static_cast<TRITONSERVER_DataType>(i);
    if (type == TRITONSERVER_TYPE_BYTES) continue;
    ASSERT_TRUE(ToTorchType(type).has_value()) << i;
    EXPECT_EQ(FromTorchType(*ToTorchType(type)), type);
    EXPECT_EQ(c10::elementSize(*ToTorchType(type)), TRITONSERVER_DataTypeByteSize(type));
  }
  EXPECT_FALSE(ToTorchType(TRITONSERVER_TYPE_BYTES).has_value());
  EXPECT_EQ(FromTorchType(c10::ScalarType::ComplexDouble), TRITONSERVER_TYPE_INVALID);
}

}  // namespace
}  // namespace nereid_backend
