// SPDX-License-Identifier: Apache-2.0
// Many threads use one SequenceScheduler: every request is answered, and a sequence stays in order
// and in its place and never has two requests in flight.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "scheduling/testing/sequence_fixture.h"

namespace nereid {
namespace {

constexpr int kClients = 4;
constexpr uint32_t kInstances = 3;
constexpr int kSequencesPerClient = 250;

struct StormCase {
  const char* name;
  bool oldest;
  bool iterative;
};

std::ostream& operator<<(std::ostream& out, const StormCase& c) { return out << c.name; }

// What the executing threads have seen of a sequence.
struct Watched {
  std::atomic<int> in_flight{0};
  std::atomic<int> next{0};        // number of the request that is expected next
  std::atomic<int64_t> place{-1};  // instance and position in the batch
};

class SequenceStormTest : public ::testing::TestWithParam<StormCase> {
 protected:
  void SetUp() override {
    const StormCase& c = GetParam();
    CompiledModel model = SequenceModel(2, kInstances, c.oldest, c.oldest ? 3 : 0);
    model.sequence.iterative = c.iterative;
    model.sequence.max_idle = std::chrono::milliseconds(20);
    model_ = std::make_shared<FakeModel>(std::move(model));
    scheduler_ = std::make_unique<SequenceScheduler>(&model_->config(), kInstances, Clock::Real(),
                                                     SequenceSchedulerOptions{&timer_, 0, 0});
    model_->on_cancel = [this](InferRequest* request) { scheduler_->OnCancel(request); };
  }

  static std::string Name(uint64_t sequence, int number) {
    return std::to_string(sequence) + " " + std::to_string(number);
  }

  void Release(RequestPtr request) {
    if (!request->is_synthetic()) {
      --watched_[std::stoul(request->id())].in_flight;
      request->model()->statistics().AddPending(-1);
    }
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    request->stream()->Send(nullptr, kResponseCompleteFinal).IgnoreError();
    request.reset();
  }

  // Executes a batch: releases some requests at once, and leaves others to another thread.
  void Execute(uint32_t instance, Batch batch, std::mt19937* random) {
    for (size_t position = 0; position < batch.size(); ++position) {
      RequestPtr& request = batch[position];
      if (!request->is_synthetic()) See(instance, position, *request);
      if (GetParam().iterative && !request->is_synthetic() && (*random)() % 3 == 0) {
        InferRequest* const bare = request.release();
        --watched_[std::stoul(bare->id())].in_flight;
        bare->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
        bare->model()->statistics().AddPending(-1);
        bare->Reschedule();
      } else if ((*random)() % 2 == 0) {
        Release(std::move(request));
      } else {
        MutexLock lock(&mu_);
        late_.push_back(std::move(request));
        changed_.NotifyAll();
      }
    }
  }

  void See(uint32_t instance, size_t position, const InferRequest& request) {
    size_t digits = 0;
    const uint64_t sequence = std::stoul(request.id(), &digits);
    const int number = std::stoi(request.id().substr(digits));
    Watched& watched = watched_[sequence];
    EXPECT_EQ(++watched.in_flight, 1) << request.id();
    if (GetParam().iterative) {
      EXPECT_GE(watched.next.load(), number);  // a request may run several times
      watched.next = std::max(watched.next.load(), number + 1);
    } else {
      EXPECT_EQ(watched.next.exchange(number + 1), number);
    }
    const int64_t place =
        GetParam().oldest ? instance : static_cast<int64_t>(instance * 1000 + position);
    int64_t before = -1;
    if (!watched.place.compare_exchange_strong(before, place)) {
      EXPECT_EQ(before, place);
    }
  }

  void RunInstance(uint32_t instance) {
    std::mt19937 random(instance + 100);
    while (true) {
      Batch batch = scheduler_->source(instance)->Pull(nullptr, std::nullopt);
      if (batch.empty()) return;
      Execute(instance, std::move(batch), &random);
    }
  }

  void RunLate() {
    while (true) {
      RequestPtr request;
      {
        MutexLock lock(&mu_);
        while (late_.empty() && !stop_) changed_.Wait(&mu_);
        if (late_.empty()) return;
        request = std::move(late_.front());
        late_.pop_front();
      }
      Release(std::move(request));
    }
  }

  // Sends one sequence. Some requests are cancelled, and some sequences get no end.
  void RunSequence(uint64_t sequence, std::mt19937* random) {
    const int length = 1 + static_cast<int>((*random)() % 4);
    const bool abandons = (*random)() % 16 == 0;
    std::deque<std::unique_ptr<TestRequest>> requests;
    for (int i = 0; i < length; ++i) {
      auto request = std::make_unique<TestRequest>(model_);
      (*request)->set_id(Name(sequence, i));
      (*request)->set_correlation_id(CorrelationId(sequence));
      const bool last = i + 1 == length && !abandons;
      (*request)->set_flags((i == 0 ? kStart : 0) | (last ? kEnd : 0));
      if ((*random)() % 4 == 0) (*request)->set_timeout_us(1 + (*random)() % 2000);
      request->Input("in", DataType::kInt8, {1, 1});
      RequestPtr owned = request->Issue();
      if (!scheduler_->Enqueue(&owned).ok()) {
        // The sequence was dropped before: it timed out, or one of its requests was cancelled.
        request->TakeBack(std::move(owned));
        ++refused_;
        continue;
      }
      requests.push_back(std::move(request));
      if ((*random)() % 20 == 0) (*requests.back())->Cancel().IgnoreError();
      if ((*random)() % 2 == 0) requests.back()->WaitDone();
    }
    for (const auto& request : requests) {
      request->WaitDone();
      EXPECT_EQ(request->answer_count(), 1u);
      EXPECT_EQ(request->releases(), 1);
      const absl::StatusCode code = request->final_status().code();
      EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kCancelled ||
                  code == absl::StatusCode::kUnavailable)
          << request->final_status();
      if (code == absl::StatusCode::kOk) ++executed_;
    }
  }

  void RunClient(int client) {
    std::mt19937 random(static_cast<uint32_t>(client));
    for (int i = 0; i < kSequencesPerClient; ++i) {
      RunSequence(static_cast<uint64_t>(client * kSequencesPerClient + i + 1), &random);
    }
  }

  Timer timer_{Clock::Real()};
  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<SequenceScheduler> scheduler_;
  std::array<Watched, kClients * kSequencesPerClient + 1> watched_;
  std::atomic<int> executed_{0};
  std::atomic<int> refused_{0};
  Mutex mu_;
  CondVar changed_;
  std::deque<RequestPtr> late_ ABSL_GUARDED_BY(mu_);
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
};

TEST_P(SequenceStormTest, NothingIsLost) {
  std::vector<std::thread> instances;
  for (uint32_t i = 0; i < kInstances; ++i) instances.emplace_back([this, i] { RunInstance(i); });
  std::thread late([this] { RunLate(); });
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back([this, i] { RunClient(i); });
  for (std::thread& client : clients) client.join();
  // Sequences without an end are ended once they have been idle for long enough. Then the gate is
  // empty.
  Mutex mu;
  CondVar changed;
  bool empty = false;
  model_->lifetime().Close([&] {
    MutexLock lock(&mu);
    empty = true;
    changed.NotifyAll();
  });
  {
    MutexLock lock(&mu);
    while (!empty) changed.Wait(&mu);
  }
  scheduler_->Shutdown();
  for (std::thread& instance : instances) instance.join();
  {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.NotifyAll();
  }
  late.join();
  EXPECT_EQ(scheduler_->sequences_in_slots(), 0u);
  EXPECT_EQ(model_->statistics().Snapshot().pending, 0);
  EXPECT_GT(executed_.load(), kSequencesPerClient);
}

INSTANTIATE_TEST_SUITE_P(All, SequenceStormTest,
                         ::testing::Values(StormCase{"direct", false, false},
                                           StormCase{"oldest", true, false},
                                           StormCase{"iterative", false, true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nereid
