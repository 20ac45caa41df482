// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> BatchTensorProblems(const std::string& text) {
  return ProblemsOf(CheckBatchTensors,
                    "name: 'm' input { name: 'I' } output { name: 'O' } " + text);
}

TEST(CheckBatchTensorsTest, AcceptsGoodOnesAndNone) {
  EXPECT_THAT(BatchTensorProblems(""), IsEmpty());
  EXPECT_THAT(BatchTensorProblems("batch_input { kind: BATCH_ITEM_SHAPE data_type: TYPE_INT32 "
                                  "target_name: 'S' source_input: 'I' } "
                                  "batch_output { target_name: 'O' source_input: 'I' }"),
              IsEmpty());
}

TEST(CheckBatchTensorsTest, BatchInput) {
  EXPECT_THAT(BatchTensorProblems("batch_input { data_type: TYPE_INT64 } "
                                  "batch_input { kind: 77 data_type: TYPE_FP32 source_input: 'I' } "
                                  "batch_input { data_type: TYPE_FP32 source_input: 'J' }"),
              ElementsAre("batch_input[0].source_input: batch input kind 'BATCH_ELEMENT_COUNT' "
                          "expects 1 source input, got 0 for m",
                          "batch_input[0].data_type: batch input data type must be TYPE_INT32 or "
                          "TYPE_FP32 for m",
                          "batch_input[1].kind: unknown batch input kind '77' for m",
                          "batch_input[2].source_input: unknown source input name 'J' for m"));
}

TEST(CheckBatchTensorsTest, BatchOutput) {
  EXPECT_THAT(BatchTensorProblems(
                  "batch_output { target_name: [ 'O', 'P', 'O' ] source_input: [ 'I', 'I' ] } "
                  "batch_output { kind: 77 }"),
              ElementsAre("batch_output[0].source_input: batch output kind "
                          "'BATCH_SCATTER_WITH_INPUT_SHAPE' expects 1 source input, got 2 for m",
                          "batch_output[0].target_name: unknown target output name 'P' for m",
                          "batch_output[0].target_name: target output name 'O' can only be "
                          "specified once for m",
                          "batch_output[1].kind: unknown batch output kind '77' for m"));
}

}  // namespace
}  // namespace nereid
