// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/batch_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

Result<std::vector<BatchOutput>> Read(const std::string& list) {
  const Result<ModelConfig> config =
      ParseModelConfig(R"({"name":"m","max_batch_size":8,)"
                       R"("input":[{"name":"X","data_type":"TYPE_FP32","dims":[-1]}],)"
                       R"("output":[{"name":"Y","data_type":"TYPE_FP32","dims":[-1]},)"
                       R"({"name":"Z","data_type":"TYPE_FP32","dims":[3,-1]}],"batch_output":[)" +
                       list + "]}");
  EXPECT_TRUE(config.ok());
  return BatchOutput::ReadAll(*config);
}

std::string Message(const std::string& list) {
  Result<std::vector<BatchOutput>> all = Read(list);
  return all.ok() ? "" : all.error().message();
}

TEST(BatchOutputTest, ReadsSourceAndTargets) {
  const auto all = Read(R"({"kind":"BATCH_SCATTER_WITH_INPUT_SHAPE","source_input":["X"],)"
                        R"("target_name":["Y"]})");
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ((*all)[0].source(), "X");
  EXPECT_TRUE((*all)[0].Has("Y"));
  EXPECT_FALSE((*all)[0].Has("Z"));
}

TEST(BatchOutputTest, WhatCanNotBeCutIsRefused) {
  EXPECT_EQ(Message(R"({"source_input":["X"],"target_name":["Y"]})"), "");
  EXPECT_EQ(Message(R"({"kind":"BATCH_OTHER","source_input":["X"]})"),
            "unknown batch output kind 'BATCH_OTHER' for m");
  EXPECT_EQ(Message(R"({"source_input":["X"],"target_name":["W"]})"),
            "unknown target output name 'W' for m");
  EXPECT_THAT(Message(R"({"source_input":[],"target_name":["Y"]})"), HasSubstr("needs one source"));
  EXPECT_EQ(Message(R"({"source_input":["X"],"target_name":["Z"]})"),
            "batch output 'Z' has the variable dimension 1 of its shape [3,-1], but its source 'X' "
            "has the shape [-1] for m");
}

TEST(BatchOutputTest, VariableDimsAreThoseOfTheSource) {
  const Shape source = {2, 5, 7};
  const ShapeView view{source.data(), source.size()};
  EXPECT_EQ(ScatteredShape({-1, -1}, true, view), (Shape{2, 5, 7}));
  EXPECT_EQ(ScatteredShape({3, -1}, true, view), (Shape{2, 3, 7}));
  EXPECT_EQ(ScatteredShape({4}, true, view), (Shape{2, 4}));
  EXPECT_EQ(ScatteredShape({-1, 9, -1}, false, view), (Shape{2, 9, 7}));
}

}  // namespace
}  // namespace nereid_backend
