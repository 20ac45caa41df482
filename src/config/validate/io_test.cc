// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> TensorProblems(const std::string& text) {
  return ProblemsOf(CheckTensors, "name: 'm' " + text);
}

// Problems of an FP32 input "I" with these fields.
std::vector<std::string> InputProblems(const std::string& fields, int max_batch_size = 0) {
  return TensorProblems("max_batch_size: " + std::to_string(max_batch_size) +
                        " input { name: 'I' data_type: TYPE_FP32 " + fields + " }");
}

TEST(CheckTensorsTest, AcceptsGoodOnes) {
  EXPECT_THAT(TensorProblems(""), IsEmpty());
  EXPECT_THAT(InputProblems("dims: [ -1, 3 ]"), IsEmpty());
  EXPECT_THAT(TensorProblems("output { name: 'O' data_type: TYPE_STRING dims: 1 "
                             "label_filename: 'labels/../l.txt' }"),
              IsEmpty());
}

TEST(CheckTensorsTest, RequiredFields) {
  EXPECT_THAT(TensorProblems("input { } output { name: 'O' data_type: 99 }"),
              ElementsAre("input[0].name: model input must specify 'name' for m",
                          "input[0].data_type: model input '' must specify 'data_type' for m",
                          "input[0].dims: model input '' must specify 'dims' for m",
                          "output[0].data_type: model output 'O' must specify 'data_type' for m",
                          "output[0].dims: model output 'O' must specify 'dims' for m"));
}

TEST(CheckTensorsTest, Dimensions) {
  EXPECT_THAT(InputProblems("dims: [ 0, 2, -2 ] reshape { shape: [ 0 ] }"),
              ElementsAre("input[0].dims[0]: model input 'I' dimension must be integer >= 1, or -1 "
                          "to indicate a variable-size dimension for m",
                          "input[0].dims[2]: model input 'I' dimension must be integer >= 1, or -1 "
                          "to indicate a variable-size dimension for m",
                          "input[0].reshape.shape[0]: model input 'I' reshape dimensions must be "
                          "integer >= 1, or -1 to indicate a variable-size dimension for m"));
}

TEST(CheckTensorsTest, ReshapesThatFit) {
  EXPECT_THAT(InputProblems("dims: [ 4, 3 ] reshape { shape: [ 2, 6 ] }"), IsEmpty());
  EXPECT_THAT(InputProblems("dims: [ 1 ] reshape { shape: [ ] }", 8), IsEmpty());
  EXPECT_THAT(InputProblems("dims: [ 2, 4, -1, 6 ] reshape { shape: [ 8, -1, 1, 6 ] }"), IsEmpty());
}

TEST(CheckTensorsTest, ReshapesThatDoNotFit) {
  constexpr char kSize[] =
      "input[0].reshape.shape: model input 'I' has different size for dims and reshape for m";
  EXPECT_THAT(InputProblems("dims: [ 4, 3 ] reshape { shape: [ 5 ] }"), ElementsAre(kSize));
  EXPECT_THAT(InputProblems("dims: [ 2 ] reshape { shape: [ ] }", 8), ElementsAre(kSize));
  EXPECT_THAT(InputProblems("dims: [ -1 ] reshape { shape: [ 4 ] }"), ElementsAre(kSize));
  EXPECT_THAT(InputProblems("dims: [ 2, -1, 3 ] reshape { shape: [ 3, -1, 2 ] }"),
              ElementsAre(kSize));
  EXPECT_THAT(InputProblems("dims: [ -1, -1 ] reshape { shape: [ -1 ] }"),
              ElementsAre("input[0].reshape.shape: model input 'I' has different number of "
                          "variable-size dimensions for dims and reshape for m"));
  EXPECT_THAT(InputProblems("dims: [ 1 ] reshape { shape: [ ] }", 0),
              ElementsAre("input[0].reshape: model input 'I' cannot have empty reshape for "
                          "non-batching model as scalar tensors are not supported for m"));
}

TEST(CheckTensorsTest, Sizes) {
  EXPECT_THAT(InputProblems("dims: [ 9223372036854775807, 2 ]"),
              ElementsAre("input[0].dims: element count for tensor 'I' exceeds maximum size of "
                          "9223372036854775807 for m"));
  EXPECT_THAT(InputProblems("dims: [ 9223372036854775807 ]"),
              ElementsAre("input[0].dims: byte size for tensor 'I' exceeds maximum size of "
                          "9223372036854775807 for m"));
  EXPECT_THAT(
      TensorProblems("input { name: 'I' data_type: TYPE_STRING dims: [ 9223372036854775807 ] }"),
      IsEmpty());
}

TEST(CheckTensorsTest, Format) {
  EXPECT_THAT(InputProblems("dims: [ 1, 2, 3 ] format: FORMAT_NCHW"), IsEmpty());
  EXPECT_THAT(InputProblems("dims: [ 1, 2 ] format: FORMAT_NHWC"),
              ElementsAre("input[0].format: model input NHWC/NCHW require 3 dims for m"));
}

TEST(CheckTensorsTest, TensorRtOnly) {
  EXPECT_THAT(
      TensorProblems(
          "input { name: 'I' data_type: TYPE_FP32 dims: 1 is_shape_tensor: true } "
          "output { name: 'O' data_type: TYPE_FP32 dims: 1 is_non_linear_format_io: true }"),
      ElementsAre(
          "input[0].is_shape_tensor: shape tensors are only supported for TensorRT platform "
          "for m",
          "output[0].is_non_linear_format_io: Non-linear IO format is only supported for "
          "the TensorRT platform for m",
          "output[0].dims: Non-linear IO format output requires 3 dims for m"));
  EXPECT_THAT(
      TensorProblems("platform: 'tensorrt_plan' input { name: 'I' data_type: TYPE_FP32 "
                     "dims: [ 1, 2, 3 ] is_shape_tensor: true is_non_linear_format_io: true }"),
      IsEmpty());
}

TEST(CheckTensorsTest, LabelsStayInTheModelDirectory) {
  for (const char* path : {"../labels.txt", "a/../../labels.txt", "/etc/labels.txt"}) {
    const std::string text =
        std::string("name: 'm' output { name: 'O' data_type: TYPE_FP32 dims: 1 label_filename: '") +
        path + "' }";
    Diagnostics diagnostics;
    CheckTensors(ConfigFromText(text), &diagnostics);
    ASSERT_EQ(diagnostics.problems().size(), 1u) << path;
    EXPECT_EQ(diagnostics.problems()[0].text, std::string("label file path '") + path +
                                                  "' for output 'O' in model 'm' is outside model "
                                                  "directory");
    EXPECT_EQ(diagnostics.problems()[0].code, absl::StatusCode::kUnimplemented);
  }
}

TEST(CheckTensorsTest, NamesAreDistinct) {
  constexpr char kTensor[] = "{ name: 'T' data_type: TYPE_FP32 dims: 1 } ";
  EXPECT_THAT(TensorProblems(std::string("input ") + kTensor + "output " + kTensor), IsEmpty());
  EXPECT_THAT(TensorProblems(std::string("output ") + kTensor + "output " + kTensor),
              ElementsAre("output[1].name: model output 'T' is specified more than once for m"));
}

}  // namespace
}  // namespace nereid
