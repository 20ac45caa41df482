// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/tensor_io.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

class OnnxTensorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { Ort::InitApi(OrtGetApiBase()->GetApi(ORT_API_VERSION)); }

  // The output of a run that returns `input` unchanged.
  RunOutput Echo(RunInput* input) {
    value_ = MakeInputValue(memory_, input);
    RunOutput output;
    output.tensor = input->tensor;
    TakeOutputValue(value_, &output);
    return output;
  }

  const Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  Ort::Value value_{nullptr};
  Scratch scratch_;
};

TEST_F(OnnxTensorTest, BytesAreNotCopied) {
  BoundTensor tensor;
  tensor.type = TRITONSERVER_TYPE_UINT8;
  tensor.element_size = 1;
  const char data[] = "abcdef";
  RunInput input{.tensor = &tensor, .shape = {3, 2}, .byte_size = 6, .scratch = &scratch_};
  input.pieces = {{data, 6}};
  const RunOutput output = Echo(&input);
  EXPECT_EQ(output.shape, (Shape{3, 2}));
  EXPECT_EQ(output.data, data);
}

TEST_F(OnnxTensorTest, StringsKeepTheirBytes) {
  BoundTensor tensor;
  tensor.type = TRITONSERVER_TYPE_BYTES;
  RunInput input{.tensor = &tensor, .shape = {2, 2}, .scratch = &scratch_};
  input.elements = {"a", "", std::string_view("x\0y", 3), "long element"};
  const RunOutput output = Echo(&input);
  EXPECT_EQ(output.shape, (Shape{2, 2}));
  EXPECT_EQ(output.elements, input.elements);
}

TEST_F(OnnxTensorTest, NoStringsAreNoElements) {
  BoundTensor tensor;
  tensor.type = TRITONSERVER_TYPE_BYTES;
  RunInput input{.tensor = &tensor, .shape = {0, 2}, .scratch = &scratch_};
  EXPECT_TRUE(Echo(&input).elements.empty());
}

}  // namespace
}  // namespace nereid_backend
