// SPDX-License-Identifier: Apache-2.0
#include "base/timer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace nereid {
namespace {

using std::chrono::milliseconds;

// Counts calls and lets a test wait for them.
class Calls {
 public:
  void Add() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    ++count_;
    changed_.NotifyAll();
  }
  void Await(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    while (count_ < count) changed_.Wait(&mu_);
  }
  int count() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    return count_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
};

class TimerTest : public ::testing::Test {
 protected:
  // Waits until the timer's thread waits for a time.
  void AwaitWaiting() {
    while (clock_.TimedWaiters() == 0) std::this_thread::yield();
  }
  // Advances the clock and waits until the timer has reached the new time, at which `last` is due.
  void AdvanceAndSettle(milliseconds by) {
    Calls settled;
    Timer::Alarm last(&timer_, [&] { settled.Add(); });
    last.Set(clock_.Now() + by);
    clock_.Advance(by);
    settled.Await(1);
  }

  FakeClock clock_;
  Timer timer_{&clock_};
  Calls calls_;
};

TEST_F(TimerTest, CallsAtItsTimeAndNotBefore) {
  Timer::Alarm alarm(&timer_, [this] { calls_.Add(); });
  alarm.Set(clock_.Now() + milliseconds(10));
  AdvanceAndSettle(milliseconds(9));
  EXPECT_EQ(calls_.count(), 0);
  clock_.Advance(milliseconds(1));
  calls_.Await(1);
  AdvanceAndSettle(milliseconds(100));
  EXPECT_EQ(calls_.count(), 1) << "once";
}

TEST_F(TimerTest, ATimeInThePastIsCalledAtOnce) {
  Timer::Alarm alarm(&timer_, [this] { calls_.Add(); });
  alarm.Set(clock_.Now() - milliseconds(1));
  calls_.Await(1);
}

TEST_F(TimerTest, TheLastSettingCounts) {
  Timer::Alarm alarm(&timer_, [this] { calls_.Add(); });
  alarm.Set(clock_.Now() + milliseconds(10));
  alarm.Set(clock_.Now() + milliseconds(20));
  AdvanceAndSettle(milliseconds(15));
  EXPECT_EQ(calls_.count(), 0);
  AwaitWaiting();
  alarm.Set(clock_.Now() + milliseconds(1));  // before the time that the timer waits for
  clock_.Advance(milliseconds(1));
  calls_.Await(1);
  AdvanceAndSettle(milliseconds(100));
  EXPECT_EQ(calls_.count(), 1);
}

TEST_F(TimerTest, AnAlarmThatIsGoneIsNotCalled) {
  auto alarm = std::make_unique<Timer::Alarm>(&timer_, [this] { calls_.Add(); });
  alarm->Set(clock_.Now() + milliseconds(10));
  alarm.reset();
  AdvanceAndSettle(milliseconds(20));
  EXPECT_EQ(calls_.count(), 0);
}

TEST_F(TimerTest, ACallMaySetItsOwnAlarm) {
  std::unique_ptr<Timer::Alarm> alarm;
  alarm = std::make_unique<Timer::Alarm>(&timer_, [&] {
    alarm->Set(clock_.Now() + milliseconds(10));
    calls_.Add();
  });
  alarm->Set(clock_.Now());
  calls_.Await(1);
  for (int count = 2; count < 5; ++count) {
    AwaitWaiting();
    clock_.Advance(milliseconds(10));
    calls_.Await(count);
  }
}

TEST_F(TimerTest, ACallThatFailsIsMadeAgain) {
  Timer::Alarm alarm(&timer_, [this] {
    calls_.Add();
    if (calls_.count() < 3) throw std::bad_alloc();
  });
  alarm.Set(clock_.Now());
  calls_.Await(1);
  for (int count = 2; count <= 3; ++count) {
    AwaitWaiting();
    clock_.Advance(milliseconds(10));
    calls_.Await(count);
  }
  AdvanceAndSettle(milliseconds(100));
  EXPECT_EQ(calls_.count(), 3);
}

TEST_F(TimerTest, DestructionWaitsForTheCallUnderWay) {
  Calls entered, leave;
  bool left = false;  // not guarded, because the test is about the order
  auto alarm = std::make_unique<Timer::Alarm>(&timer_, [&] {
    entered.Add();
    leave.Await(1);
    left = true;
  });
  alarm->Set(clock_.Now());
  entered.Await(1);
  std::thread leaver([&] { leave.Add(); });
  alarm.reset();
  EXPECT_TRUE(left);
  leaver.join();
}

TEST_F(TimerTest, ALongCallDoesNotKeepTheOthersWaiting) {
  Calls entered, leave;
  Timer::Alarm slow(&timer_, [&] {
    entered.Add();
    leave.Await(1);
  });
  slow.Set(clock_.Now());
  entered.Await(1);
  Timer::Alarm other(&timer_, [this] { calls_.Add(); });
  other.Set(clock_.Now());
  calls_.Await(1);
  leave.Add();
}

TEST_F(TimerTest, CallsThatHangLoseTheirPlaces) {
  Calls entered, leave;
  std::vector<std::unique_ptr<Timer::Alarm>> hanging;
  for (size_t i = 0; i < Timer::kCallThreads; ++i) {
    hanging.push_back(std::make_unique<Timer::Alarm>(&timer_, [&] {
      entered.Add();
      leave.Await(1);
    }));
    hanging.back()->Set(clock_.Now());
  }
  entered.Await(Timer::kCallThreads);
  Timer::Alarm other(&timer_, [this] { calls_.Add(); });
  other.Set(clock_.Now());
  AwaitWaiting();  // for the patience with the calls to end
  EXPECT_EQ(calls_.count(), 0);
  clock_.Advance(Timer::kPatience);
  calls_.Await(1);
  // There is a place for the next at once.
  other.Set(clock_.Now());
  calls_.Await(2);
  leave.Add();
}

TEST_F(TimerTest, ThereAreOnlySoManyPlaces) {
  Calls entered, leave;
  std::vector<std::unique_ptr<Timer::Alarm>> hanging;
  for (size_t i = 0; i < Timer::kMostCallThreads; ++i) {
    hanging.push_back(std::make_unique<Timer::Alarm>(&timer_, [&] {
      entered.Add();
      leave.Await(1);
    }));
    hanging.back()->Set(clock_.Now());
  }
  for (size_t i = Timer::kCallThreads; i < Timer::kMostCallThreads; i += Timer::kCallThreads) {
    entered.Await(static_cast<int>(i));
    AwaitWaiting();
    clock_.Advance(Timer::kPatience);
  }
  entered.Await(Timer::kMostCallThreads);
  Timer::Alarm other(&timer_, [this] { calls_.Add(); });
  other.Set(clock_.Now());
  clock_.Advance(10 * Timer::kPatience);
  EXPECT_EQ(calls_.count(), 0);
  leave.Add();
  calls_.Await(1);
}

TEST_F(TimerTest, ManyAlarmsOfManyThreads) {
  constexpr int kThreads = 4, kAlarms = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      Calls mine;
      std::vector<std::unique_ptr<Timer::Alarm>> alarms;
      for (int i = 0; i < kAlarms; ++i) {
        alarms.push_back(std::make_unique<Timer::Alarm>(&timer_, [&] { mine.Add(); }));
        alarms.back()->Set(clock_.Now() + milliseconds((i * 7 + t) % 50 - 25));
      }
      for (int i = 0; i < 30; ++i) clock_.Advance(milliseconds(1));
      mine.Await(kAlarms);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TimerTest, TimeOutsAreNotLengthenedByTheKernel) {
  Timer::Alarm alarm(&timer_, [] {});
  alarm.Set(clock_.Now() + milliseconds(10));
  AwaitWaiting();
  std::vector<std::string> slacks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name, slack;
    std::ifstream(task.path() / "comm") >> name;
    if (name != "timer") continue;
    std::ifstream("/proc/" + task.path().filename().string() + "/timerslack_ns") >> slack;
    slacks.push_back(slack);
  }
  EXPECT_EQ(slacks, std::vector<std::string>{"1"});
}

TEST(TimerOfItsOwner, MakesDueCallsOnTheThreadOfItsOwner) {
  FakeClock clock;
  Timer timer(&clock, Timer::Calls::kByOwner);
  EXPECT_EQ(timer.NextCall(), std::nullopt);
  std::vector<int> called;
  Timer::Alarm late(&timer, [&] { called.push_back(2); });
  Timer::Alarm early(&timer, [&] {
    called.push_back(1);
    if (called.size() == 1) early.Set(clock.Now());  // due at once, once more
  });
  const TimePoint start = clock.Now();
  late.Set(start + milliseconds(20));
  early.Set(start + milliseconds(10));
  EXPECT_EQ(timer.NextCall(), start + milliseconds(10));
  timer.MakeDueCalls();
  EXPECT_TRUE(called.empty());
  clock.Advance(milliseconds(20));
  timer.MakeDueCalls();
  EXPECT_EQ(called, (std::vector<int>{1, 2, 1}));
  EXPECT_EQ(timer.NextCall(), std::nullopt);
}

}  // namespace
}  // namespace nereid
