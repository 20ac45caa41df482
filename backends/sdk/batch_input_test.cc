// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/batch_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

// A model with the ragged input X of `rank` dims and the batch inputs `list`.
Result<std::vector<BatchInput>> Read(const std::string& list, int rank = 2, int max_batch = 8) {
  const std::string dims = rank == 1 ? "[-1]" : "[-1,-1]";
  const Result<ModelConfig> config =
      ParseModelConfig("{\"name\":\"m\",\"max_batch_size\":" + std::to_string(max_batch) +
                       ",\"input\":[{\"name\":\"X\",\"data_type\":\"TYPE_FP32\",\"dims\":" + dims +
                       "}],\"batch_input\":[" + list + "]}");
  EXPECT_TRUE(config.ok());
  return BatchInput::ReadAll(*config);
}

std::string One(const std::string& kind, const std::string& type = "TYPE_INT32") {
  return R"({"kind":")" + kind + R"(","data_type":")" + type +
         R"(","source_input":["X"],"target_name":["A","B"]})";
}

std::vector<ShapeView> Views(const std::vector<Shape>& shapes) {
  std::vector<ShapeView> views;
  for (const Shape& shape : shapes) views.push_back({shape.data(), shape.size()});
  return views;
}

template <typename T>
std::vector<T> Filled(const BatchInput& input, const std::vector<Shape>& shapes, Error* error) {
  const Shape shape = input.ShapeFor(Views(shapes));
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::vector<T> values(count, T(77));
  *error = input.Fill(Views(shapes), reinterpret_cast<char*>(values.data()));
  return values;
}

struct Case {
  std::string kind;
  int max_batch;
  std::vector<Shape> sources;
  Shape shape;
  std::vector<int32_t> values;
};

const std::vector<Shape> kThree = {{1, 2, 3}, {2, 1, 4}, {1, 5, 1}};

class BatchInputTest : public ::testing::TestWithParam<Case> {};

TEST_P(BatchInputTest, ShapeAndValuesInBothTypes) {
  const Case& c = GetParam();
  const Result<std::vector<BatchInput>> all =
      Read(One(c.kind) + "," + One(c.kind, "TYPE_FP32"), 2, c.max_batch);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].targets(), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ((*all)[0].source(), "X");
  EXPECT_EQ((*all)[0].type(), TRITONSERVER_TYPE_INT32);
  EXPECT_EQ((*all)[1].type(), TRITONSERVER_TYPE_FP32);
  EXPECT_EQ((*all)[0].ShapeFor(Views(c.sources)), c.shape);
  EXPECT_EQ((*all)[0].OpenShape().size(), c.shape.size());
  Error error;
  EXPECT_EQ(Filled<int32_t>((*all)[0], c.sources, &error), c.values);
  EXPECT_TRUE(error.ok());
  EXPECT_EQ(Filled<float>((*all)[1], c.sources, &error),
            std::vector<float>(c.values.begin(), c.values.end()));
  EXPECT_TRUE(error.ok());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BatchInputTest,
    ::testing::Values(
        Case{"BATCH_ELEMENT_COUNT", 8, kThree, {3}, {6, 8, 5}},
        Case{"BATCH_ELEMENT_COUNT", 8, {{1, 4, 2}}, {1}, {8}},
        Case{"BATCH_ACCUMULATED_ELEMENT_COUNT", 8, kThree, {3}, {6, 14, 19}},
        Case{"BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", 8, kThree, {4}, {0, 6, 14, 19}},
        Case{"BATCH_MAX_ELEMENT_COUNT_AS_SHAPE", 8, kThree, {8}, {0, 0, 0, 0, 0, 0, 0, 0}},
        Case{"BATCH_ITEM_SHAPE", 8, kThree, {4, 2}, {2, 3, 1, 4, 1, 4, 5, 1}},
        Case{"BATCH_ITEM_SHAPE_FLATTEN", 8, kThree, {8}, {2, 3, 1, 4, 1, 4, 5, 1}},
        // Without batching the whole shape belongs to the only item.
        Case{"BATCH_ITEM_SHAPE", 0, {{4, 2}}, {1, 2}, {4, 2}},
        Case{"BATCH_ELEMENT_COUNT", 0, {{4, 2}}, {1}, {8}}));

TEST(BatchInputReadTest, TheDefaultKindIsTheElementCount) {
  const auto all =
      Read(R"({"data_type":"TYPE_INT32","source_input":["X"],"target_name":["A"]})", 1);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)[0].kind(), BatchInputKind::kElementCount);
  EXPECT_EQ((*all)[0].OpenShape(), Shape{-1});
}

TEST(BatchInputReadTest, WhatNoServerLetsThroughIsRefused) {
  const auto message = [](const std::string& one) {
    Result<std::vector<BatchInput>> all = Read(one);
    return all.ok() ? std::string() : std::string(all.error().message());
  };
  EXPECT_EQ(message(One("BATCH_OTHER")), "unknown batch input kind 'BATCH_OTHER' for m");
  EXPECT_EQ(message(One("BATCH_ITEM_SHAPE", "TYPE_INT64")),
            "batch input data type must be TYPE_INT32 or TYPE_FP32 for m");
  EXPECT_THAT(message(R"({"data_type":"TYPE_INT32","source_input":["X","X"]})"),
              HasSubstr("needs one source"));
  EXPECT_THAT(message(R"({"data_type":"TYPE_INT32","source_input":["Y"]})"),
              HasSubstr("needs one source"));
}

TEST(BatchInputReadTest, ANumberThatInt32DoesNotHoldIsAnError) {
  const auto all = Read(One("BATCH_ACCUMULATED_ELEMENT_COUNT"), 1);
  ASSERT_TRUE(all.ok());
  const std::vector<Shape> shapes = {{1, int64_t{1} << 30}, {1, int64_t{1} << 30}};
  Error error;
  Filled<int32_t>((*all)[0], {shapes[0]}, &error);
  EXPECT_TRUE(error.ok());
  Filled<int32_t>((*all)[0], shapes, &error);
  ASSERT_FALSE(error.ok());
  EXPECT_THAT(error.message(), HasSubstr("2147483648, which is too large"));
}

}  // namespace
}  // namespace nereid_backend
