// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/adaptive_policy.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using std::chrono::microseconds;

constexpr TimePoint kStart = TimePoint(std::chrono::seconds(100));

class Executor final : public BatchExecutor {
 public:
  Duration Execute(Batch) override { return Duration(0); }
};

class ExecutionMeterTest : public ::testing::Test {
 protected:
  Batch MakeBatch(std::initializer_list<int64_t> sizes) {
    Batch batch;
    for (const int64_t size : sizes) {
      requests_.push_back(std::make_unique<TestRequest>(model_));
      requests_.back()->Input("in", DataType::kInt8, {size, 1});
      batch.push_back(requests_.back()->Issue());
    }
    return batch;
  }

  std::shared_ptr<FakeModel> model_ =
      FakeModel::Make(ModelBuilder("m").MaxBatch(8).Input("in", DataType::kInt8, {1}));
  std::vector<std::unique_ptr<TestRequest>> requests_;
  Executor a_, b_;
  ExecutionMeter meter_{2};
};

TEST_F(ExecutionMeterTest, SaysHowLongHowMuchTook) {
  meter_.Begin(&a_, MakeBatch({3, 1}), kStart);
  const auto ended = meter_.End(&a_, kStart + microseconds(7));
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->units, 4u);
  EXPECT_EQ(ended->took, microseconds(7));
}

TEST_F(ExecutionMeterTest, InstancesAreMeasuredForThemselves) {
  meter_.Begin(&a_, MakeBatch({2}), kStart);
  EXPECT_FALSE(meter_.End(&b_, kStart).has_value()) << "it has begun nothing";
  meter_.Begin(&b_, MakeBatch({5}), kStart + microseconds(1));
  EXPECT_EQ(meter_.End(&a_, kStart + microseconds(10))->units, 2u);
  EXPECT_EQ(meter_.End(&b_, kStart + microseconds(10))->took, microseconds(9));
}

TEST_F(ExecutionMeterTest, TheLastBatchCounts) {
  meter_.Begin(&a_, MakeBatch({2}), kStart);
  meter_.Begin(&a_, MakeBatch({6}), kStart + microseconds(5));
  const auto ended = meter_.End(&a_, kStart + microseconds(8));
  EXPECT_EQ(ended->units, 6u);
  EXPECT_EQ(ended->took, microseconds(3));
}

}  // namespace
}  // namespace nereid
