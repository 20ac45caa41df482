// SPDX-License-Identifier: Apache-2.0
#include "backend_host/execution_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

constexpr uint16_t kShard = 1;
constexpr uint64_t kPulled = 90;

class ExecutionRecordsTest : public ::testing::Test {
 protected:
  Batch MakeBatch(int count, bool separate) {
    Batch batch;
    for (int i = 0; i < count; ++i) {
      requests_.push_back(std::make_unique<TestRequest>(model_));
      batch.push_back(requests_.back()->Issue());
      flights_.push_back(batch.back()->stream()->flight());
    }
    batch.origin.pulled_ns = kPulled;
    batch.origin.separate = separate;
    return batch;
  }
  void Report(size_t request, uint64_t start_ns, uint64_t end_ns) {
    ExecutionRecords::OnReport(&model_->recorder(), flights_[request], start_ns, end_ns);
  }
  // "number: requests, start to end" of each, oldest first.
  std::vector<std::string> Recorded() const {
    std::vector<std::string> texts;
    for (const BatchRecord& batch : model_->recorder().Batches(0, 100)) {
      texts.push_back(std::to_string(batch.number) + ": " + std::to_string(batch.requests) + ", " +
                      std::to_string(batch.exec_start) + " to " + std::to_string(batch.exec_end));
    }
    std::reverse(texts.begin(), texts.end());
    return texts;
  }
  static void Answer(Batch batch) {
    for (RequestPtr& request : batch) {
      request->RespondError(absl::InternalError("no"), FailureReason::kBackend);
      request.reset();
    }
  }

  FakeClock clock_;
  std::shared_ptr<FakeModel> model_ =
      FakeModel::Make(ModelBuilder("m").Instances(1), &clock_, /*recorded=*/64);
  std::vector<std::unique_ptr<TestRequest>> requests_;
  std::vector<FlightRecord*> flights_;
};

TEST_F(ExecutionRecordsTest, ABatchIsAnExecution) {
  Batch batch = MakeBatch(2, /*separate=*/false);
  {
    ExecutionRecords records(batch, kShard, 100, &model_->recorder());
    Report(0, 110, 120);
    records.End(200, /*failed=*/false);
  }
  EXPECT_THAT(Recorded(), ElementsAre("1: 2, 100 to 200"));
  Answer(std::move(batch));
}

TEST_F(ExecutionRecordsTest, SeparateRequestsAreExecutionsOfTheirOwn) {
  Batch batch = MakeBatch(3, /*separate=*/true);
  {
    ExecutionRecords records(batch, kShard, 100, &model_->recorder());
    Report(0, 100, 130);
    Report(1, 120, 150);  // begun while the first was answered
    records.End(200, /*failed=*/false);
  }
  EXPECT_THAT(Recorded(), ElementsAre("1: 1, 100 to 130", "2: 1, 130 to 150", "3: 1, 100 to 200"))
      << "the last one was not reported";
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(flights_[i]->batch, i + 1);
    EXPECT_EQ(flights_[i]->pulled, kPulled);
  }
  EXPECT_EQ(flights_[1]->exec_start, 120u);
  Answer(std::move(batch));
}

TEST_F(ExecutionRecordsTest, OnlyReportsOfItsOwnThreadAndModelCount) {
  Batch batch = MakeBatch(2, /*separate=*/true);
  const std::shared_ptr<FakeModel> other = FakeModel::Make(ModelBuilder("n"), &clock_, 64);
  {
    ExecutionRecords records(batch, kShard, 100, &model_->recorder());
    std::thread([&] { Report(0, 110, 120); }).join();
    ExecutionRecords::OnReport(&other->recorder(), flights_[0], 110, 120);
    ExecutionRecords::OnReport(&model_->recorder(), nullptr, 110, 120);
    records.End(200, /*failed=*/false);
  }
  Report(0, 110, 120);  // too late
  EXPECT_THAT(Recorded(), ElementsAre("1: 1, 100 to 200", "2: 1, 100 to 200"));
  Answer(std::move(batch));
}

TEST_F(ExecutionRecordsTest, AnExecutionInsideOfAnother) {
  Batch outer = MakeBatch(2, /*separate=*/true);
  Batch inner = MakeBatch(1, /*separate=*/true);
  {
    ExecutionRecords records(outer, kShard, 100, &model_->recorder());
    {
      ExecutionRecords inside(inner, kShard, 110, &model_->recorder());
      Report(2, 110, 120);
      inside.End(200, /*failed=*/false);
    }
    Report(0, 100, 130);
    records.End(200, /*failed=*/false);
  }
  EXPECT_THAT(Recorded(), ElementsAre("3: 1, 110 to 120", "1: 1, 100 to 130", "2: 1, 100 to 200"));
  Answer(std::move(outer));
  Answer(std::move(inner));
}

}  // namespace
}  // namespace nereid
