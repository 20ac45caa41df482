// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/huge_page_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

namespace nereid {
namespace {

constexpr uint64_t kLoaded = uint64_t{100} << 20;  // bytes

// What the tests tell a memory, and see of it. It lives longer than the memory.
struct Script {
  Mutex mu;
  absl::StatusOr<uint64_t> bytes ABSL_GUARDED_BY(mu) = 0;
  std::vector<uint64_t> parts ABSL_GUARDED_BY(mu);
  std::map<uint64_t, absl::Status> refused ABSL_GUARDED_BY(mu);
  std::vector<uint64_t> asked ABSL_GUARDED_BY(mu);
  int samples ABSL_GUARDED_BY(mu) = 0;
  int looks ABSL_GUARDED_BY(mu) = 0;
  Duration look ABSL_GUARDED_BY(mu){0};  // what the search takes
  Duration turn ABSL_GUARDED_BY(mu){0};  // what a part takes
};

class FakeMemory final : public ProcessMemory {
 public:
  FakeMemory(FakeClock* clock, Script* script) : clock_(clock), script_(script) {}

  absl::StatusOr<uint64_t> AnonymousBytes() override {
    MutexLock lock(&script_->mu);
    ++script_->samples;
    return script_->bytes;
  }
  absl::StatusOr<std::vector<uint64_t>> FullParts() override {
    std::vector<uint64_t> parts;
    Duration look{0};
    {
      MutexLock lock(&script_->mu);
      ++script_->looks;
      look = script_->look;
      parts = script_->parts;
    }
    clock_->Advance(look);
    return parts;
  }
  absl::Status MakeHuge(uint64_t part) override {
    Duration turn{0};
    absl::Status status;
    {
      MutexLock lock(&script_->mu);
      turn = script_->turn;
      script_->asked.push_back(part);
      if (const auto it = script_->refused.find(part); it != script_->refused.end()) {
        status = it->second;
      }
    }
    clock_->Advance(turn);
    return status;
  }

 private:
  FakeClock* const clock_;
  Script* const script_;
};

class HugePageThreadTest : public ::testing::Test {
 protected:
  void Set(absl::StatusOr<uint64_t> bytes, std::vector<uint64_t> parts) {
    MutexLock lock(&script_.mu);
    script_.bytes = std::move(bytes);
    script_.parts = std::move(parts);
  }
  void Refuse(const std::vector<uint64_t>& parts, const absl::Status& status) {
    MutexLock lock(&script_.mu);
    for (const uint64_t part : parts) script_.refused[part] = status;
  }
  void Take(Duration look, Duration turn) {
    MutexLock lock(&script_.mu);
    script_.look = look;
    script_.turn = turn;
  }
  std::vector<uint64_t> Asked() {
    MutexLock lock(&script_.mu);
    return script_.asked;
  }
  int Samples() {
    MutexLock lock(&script_.mu);
    return script_.samples;
  }
  int Looks() {
    MutexLock lock(&script_.mu);
    return script_.looks;
  }
  void AwaitRest() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  }
  // Lets the time pass until the thread takes the next sample.
  void AwaitSample(Duration time = HugePageThread::kInterval) {
    AwaitRest();
    const int before = Samples();
    clock_.Advance(time);
    while (Samples() == before) std::this_thread::yield();
  }
  void AwaitSamples(int count) {
    for (int i = 0; i < count; ++i) AwaitSample();
    AwaitRest();
  }

  FakeClock clock_;
  Script script_;
  HugePageThread thread_{&clock_, std::make_unique<FakeMemory>(&clock_, &script_)};
};

TEST_F(HugePageThreadTest, MovesEachFullPartOnceTheMemoryRests) {
  Set(kLoaded, {1, 2});
  AwaitSamples(2);
  EXPECT_EQ(Looks(), 0);
  AwaitSamples(1);
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{1, 2}));
  AwaitSamples(50);
  EXPECT_EQ(Looks(), 1);
}

TEST_F(HugePageThreadTest, PartsThatTheKernelRefusesAreSkipped) {
  Refuse({2}, absl::InvalidArgumentError("of another kind"));
  Set(kLoaded, {1, 2, 3});
  AwaitSamples(3);
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST_F(HugePageThreadTest, WithoutHugePagesItAsksForNoMore) {
  Refuse({2, 4, 5, 6, 7}, absl::ResourceExhaustedError("none left"));
  Set(kLoaded, {1, 2, 3, 4, 5, 6, 7});
  AwaitSamples(3);
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(HugePageThreadTest, AfterAFailureItLooksAgain) {
  Set(absl::InternalError("no file left"), {1});
  AwaitSamples(5);
  EXPECT_EQ(Looks(), 0);
  Set(kLoaded, {1});
  AwaitSamples(3);
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{1}));
}

TEST_F(HugePageThreadTest, RestsBetweenParts) {
  constexpr Duration kTurn = std::chrono::milliseconds(10);
  Take(Duration::zero(), kTurn);
  Set(kLoaded, {1, 2});
  AwaitSamples(3);
  EXPECT_EQ(Asked(), (std::vector<uint64_t>{1}));
  clock_.Advance(kTurn * HugePageThread::kRestAfterPart);
  while (Asked().size() < 2) std::this_thread::yield();
}

TEST_F(HugePageThreadTest, ALongPassIsFollowedByALongRest) {
  constexpr Duration kPass = std::chrono::seconds(2);
  constexpr Duration kAlmost = kPass * HugePageThread::kLeastRest - std::chrono::seconds(1);
  Take(kPass, Duration::zero());
  Set(kLoaded, {});
  AwaitSamples(3);
  ASSERT_EQ(Looks(), 1);
  clock_.Advance(kAlmost);
  AwaitRest();
  EXPECT_EQ(Samples(), 3);
  AwaitSample(std::chrono::seconds(1));
  EXPECT_EQ(Samples(), 4);
}

}  // namespace
}  // namespace nereid
