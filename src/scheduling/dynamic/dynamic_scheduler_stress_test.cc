// SPDX-License-Identifier: Apache-2.0
// Many threads use one DynamicScheduler: every request is answered once.
#include <absl/strings/match.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/timer.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"
#include "scheduling/dynamic/dynamic_scheduler.h"
#include "scheduling/testing/puller.h"

namespace nereid {
namespace {

using std::chrono::microseconds;

constexpr int kProducers = 4;
constexpr int kInstances = 3;
constexpr int kRequestsPerProducer = 5000;
constexpr uint64_t kMaxBatch = 16;

// Lets most requests join.
class MoodyStrategy final : public BatchStrategy {
 public:
  void Begin() override {
    EXPECT_FALSE(open_);
    open_ = true;
  }
  bool Include(InferRequest*) override {
    EXPECT_TRUE(open_);
    return random_() % 8 != 0;
  }
  void End() override {
    EXPECT_TRUE(open_);
    open_ = false;
  }

 private:
  bool open_ = false;  // unguarded: the scheduler uses a strategy from one thread at a time
  std::mt19937 random_{1};
};

struct StressCase {
  const char* name;
  std::vector<int32_t> preferred;
  microseconds delay;
  bool strategy;
  bool policies = false;  // priorities, time-outs and a limit
};

std::ostream& operator<<(std::ostream& out, const StressCase& c) { return out << c.name; }

class DynamicSchedulerStressTest : public ::testing::TestWithParam<StressCase> {
 protected:
  void Start() {
    const StressCase& c = GetParam();
    ModelBuilder builder("m");
    builder.MaxBatch(kMaxBatch).Input("in", DataType::kInt8, {-1}).Instances(kInstances);
    builder.Batching(c.preferred, c.delay);
    if (c.policies) AddPolicies(&builder);
    model_ = FakeModel::Make(builder, &clock_);
    std::unique_ptr<BatchStrategy> strategy;
    if (c.strategy) strategy = std::make_unique<MoodyStrategy>();
    scheduler_ =
        std::make_unique<DynamicScheduler>(&model_->config(), std::move(strategy), &clock_,
                                           Duration(0), DynamicSchedulerOptions{&timer_, 0});
    model_->on_cancel = [this](InferRequest* request) { scheduler_->OnCancel(request); };
    for (int i = 0; i < kInstances; ++i) instances_.emplace_back([this] { RunInstance(); });
  }

  static void AddPolicies(ModelBuilder* builder) {
    QueuePolicy reject, delay, limit;
    reject.default_timeout = microseconds(150);
    delay.default_timeout = microseconds(100);
    delay.timeout_action = QueuePolicy::TimeoutAction::kDelay;
    limit.max_queue_size = 50;
    builder->Priorities(3).Policy(reject, 1).Policy(delay, 2).Policy(limit, 3);
  }

  void Stop() {
    scheduler_->Shutdown();
    for (std::thread& instance : instances_) instance.join();
    scheduler_->DropStrategy();
  }

  void RunInstance() {
    for (Batch batch = scheduler_->Pull(nullptr, std::nullopt); !batch.empty();
         batch = scheduler_->Pull(nullptr, std::nullopt)) {
      CheckBatch(batch);
      executed_ += static_cast<int64_t>(batch.size());
      FinishBatch(std::move(batch));
    }
  }

  void CheckBatch(const Batch& batch) {
    uint64_t units = 0;
    std::array<uint64_t, kProducers + 1> last{};  // number of each producer's last request
    for (const RequestPtr& request : batch) {
      units += request->units_in_batch();
      EXPECT_EQ(request->inputs()[0].sent_shape()[1], batch[0]->inputs()[0].sent_shape()[1]);
      uint64_t& previous = last[request->flags()];
      if (!GetParam().policies) {
        EXPECT_LT(previous, request->timeout_us()) << "oldest first";
      }
      previous = request->timeout_us();
    }
    EXPECT_LE(units, kMaxBatch);
  }

  // Issues all requests of one producer, or stops when admission is closed. Cancels some of them.
  void Produce(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<TestRequest>> mine;
    for (int i = 0; i < kRequestsPerProducer; ++i) {
      mine.push_back(std::make_unique<TestRequest>(model_));
      TestRequest& request = *mine.back();
      const int64_t length = random() % 16 == 0 ? 2 : 1;
      request.Input("in", DataType::kInt8, {1 + static_cast<int64_t>(random() % 4), length});
      // Two fields that the scheduler does not look at say whose request it is and its number.
      request->set_flags(seed);
      request->set_timeout_us(static_cast<uint64_t>(i) + 1);
      request->set_priority(random() % 4);
      RequestPtr owned = request.Issue();
      if (absl::Status queued = scheduler_->Enqueue(&owned); !queued.ok()) {
        request.TakeBack(std::move(owned));
        mine.pop_back();
        if (!absl::StrContains(queued.message(), "Exceeds maximum queue size")) break;
        ++full_;
        continue;
      }
      ++accepted_;
      if (random() % 4 == 0) clock_.Advance(microseconds(random() % 20));
      if (random() % 10 == 0) {
        EXPECT_TRUE((*mine[random() % mine.size()])->Cancel().ok());
      }
    }
    --producing_;
    for (const auto& request : mine) CheckDone(*request);
  }

  void CheckDone(TestRequest& request) {
    request.WaitDone();
    EXPECT_EQ(request.answer_count(), 1u);
    EXPECT_EQ(request.releases(), 1);
    const absl::Status status = request.final_status();
    if (status.ok()) {
      ++succeeded_;
    } else if (status.code() == absl::StatusCode::kCancelled) {
      ++cancelled_;
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
      ++refused_;
    }
  }

  std::vector<std::thread> StartProducers() {
    std::vector<std::thread> producers;
    for (unsigned i = 0; i < kProducers; ++i) producers.emplace_back([this, i] { Produce(i + 1); });
    return producers;
  }

  void ExpectAllAccountedFor() {
    EXPECT_EQ(succeeded_ + cancelled_ + refused_, accepted_);
    EXPECT_EQ(executed_, succeeded_);
    const StatisticsSnapshot statistics = model_->statistics().Snapshot();
    EXPECT_EQ(statistics.pending, 0);
    EXPECT_EQ(static_cast<int64_t>(statistics.fail.count), cancelled_ + refused_ + full_);
    EXPECT_EQ(model_->lifetime().inside(), 0);
  }

  FakeClock clock_;
  Timer timer_{&clock_};
  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<DynamicScheduler> scheduler_;
  std::vector<std::thread> instances_;
  std::atomic<int> producing_{kProducers};
  std::atomic<int64_t> accepted_{0}, executed_{0}, succeeded_{0}, cancelled_{0}, refused_{0};
  std::atomic<int64_t> full_{0};  // refused because a queue was full
};

TEST_P(DynamicSchedulerStressTest, EveryRequestIsAnsweredOnce) {
  Start();
  std::vector<std::thread> producers = StartProducers();
  // The clock advances until all is done; otherwise the last batches would wait for their delay.
  while (producing_ > 0 || model_->lifetime().inside() > 0) {
    clock_.Advance(microseconds(5));
    std::this_thread::yield();
  }
  for (std::thread& producer : producers) producer.join();
  Stop();
  EXPECT_EQ(accepted_ + full_, kProducers * kRequestsPerProducer);
  if (!GetParam().policies) {
    EXPECT_EQ(refused_ + full_, 0);
  }
  ExpectAllAccountedFor();
}

TEST_P(DynamicSchedulerStressTest, ShutdownInTheMiddleAnswersTheRest) {
  Start();
  std::vector<std::thread> producers = StartProducers();
  while (accepted_ + full_ < kProducers * kRequestsPerProducer / 4) std::this_thread::yield();
  Stop();
  for (std::thread& producer : producers) producer.join();
  ExpectAllAccountedFor();
}

INSTANTIATE_TEST_SUITE_P(
    Options, DynamicSchedulerStressTest,
    ::testing::Values(StressCase{"no_delay", {}, microseconds(0), false},
                      StressCase{"delay", {4, 8}, microseconds(100), false},
                      StressCase{"strategy", {4, 8}, microseconds(100), true},
                      StressCase{"policies", {4, 8}, microseconds(60), false, true},
                      StressCase{"all", {4, 8}, microseconds(60), true, true}),
    [](const ::testing::TestParamInfo<StressCase>& info) { return info.param.name; });

}  // namespace
}  // namespace nereid
