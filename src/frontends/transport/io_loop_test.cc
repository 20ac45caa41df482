// SPDX-License-Identifier: Apache-2.0
// The timers of an I/O loop, and its end. A loop that does not end, or a timer that does not come,
// hangs the test.
#include "frontends/transport/io_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace nereid::transport {
namespace {

// A client that counts how often it is swept.
class SweptConnection final : public LoopConnection {
 public:
  explicit SweptConnection(IoLoop* loop) : loop_(loop) {}
  void Start() override { loop_->Register(this); }
  void Sweep(TimePoint) override {
    if (++sweeps_ == 2) swept_.set_value();
  }
  void OnDrain() override {}
  void Abort() override { loop_->Unregister(this); }

  void AwaitSweeps() { swept_.get_future().wait(); }

 private:
  IoLoop* const loop_;
  int sweeps_ = 0;
  std::promise<void> swept_;  // twice
};

// A loop with real time and sweeps every 5 ms, whose clients are such.
class SweptLoop {
 public:
  SweptLoop() { loop_->Start("test"); }
  ~SweptLoop() { loop_->Join(); }

  IoLoop* loop() { return loop_.get(); }
  std::shared_ptr<SweptConnection> Connect() {
    loop_->Adopt(Socket(loop_->context()), BudgetUnits());
    return last_;
  }

 private:
  static IoLoopOptions Options() {
    IoLoopOptions options;
    options.sweep_interval = std::chrono::milliseconds(5);
    return options;
  }

  std::shared_ptr<SweptConnection> last_;
  const std::shared_ptr<IoLoop> loop_ = std::make_shared<IoLoop>(
      Options(), [this](const std::shared_ptr<IoLoop>& loop, Socket, BudgetUnits) {
        return last_ = std::make_shared<SweptConnection>(loop.get());
      });
};

TEST(IoLoopTest, EndsAlthoughASweepIsDueAtTheSameMoment) {
  for (int i = 0; i < 5; ++i) {
    SweptLoop loop;
    loop.Connect();
    // Keeps the loop busy until a sweep is due and, unless this thread is slow, Join was called.
    std::promise<void> started;
    loop.loop()->Post([&] {
      started.set_value();
      const TimePoint until = loop.loop()->Now() + std::chrono::milliseconds(30);
      while (loop.loop()->Now() < until) {
      }
    });
    started.get_future().wait();
  }
}

class LoopTimers {
 public:
  LoopTimers() {
    IoLoopOptions options;
    options.clock = &clock_;
    options.sweep_interval = std::chrono::hours(1);
    loop_ = std::make_shared<IoLoop>(options, nullptr);
    loop_->Start("test");
  }
  ~LoopTimers() { loop_->Join(); }

  IoLoop* loop() { return loop_.get(); }
  FakeClock* clock() { return &clock_; }
  void InLoop(const std::function<void()>& task) {
    std::promise<void> done;
    loop_->Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  FakeClock clock_;
  std::shared_ptr<IoLoop> loop_;
};

class Note final : public Timer {
 public:
  Note(int id, std::vector<int>* notes) : id_(id), notes_(notes) {}
  void OnTimer() override {
    notes_->push_back(id_);
    came_.set_value();
  }
  void Await() { came_.get_future().wait(); }

 private:
  const int id_;
  std::vector<int>* const notes_;
  std::promise<void> came_;
};

TEST(IoLoopTest, SweepsGoOnWithTheNextClientAfterTheLastHasLeft) {
  SweptLoop loop;
  for (int i = 0; i < 3; ++i) {
    const auto client = loop.Connect();
    client->AwaitSweeps();
    std::promise<void> left;
    loop.loop()->Post([&] {
      client->Abort();
      left.set_value();
    });
    left.get_future().wait();
    EXPECT_TRUE(loop.loop()->WaitEmpty(loop.loop()->Now()));
    // The second time the next client comes before the sweep that finds nobody; otherwise after it,
    // since timers come in their order.
    if (i == 1) continue;
    std::vector<int> notes;
    Note later(1, &notes);
    loop.loop()->Post([&] {
      loop.loop()->StartTimer(&later, loop.loop()->Now() + std::chrono::milliseconds(10));
    });
    later.Await();
  }
}

TEST(IoLoopTest, TimersComeInTheOrderOfTheirTimesWithoutASweep) {
  LoopTimers loop;
  std::vector<int> notes;
  Note late(2, &notes), early(1, &notes), stopped(3, &notes);
  const TimePoint now = loop.clock()->Now();
  loop.InLoop([&] {
    loop.loop()->StartTimer(&late, now + std::chrono::milliseconds(9));
    loop.loop()->StartTimer(&stopped, now + std::chrono::milliseconds(2));
    loop.loop()->StartTimer(&early, now + std::chrono::milliseconds(4));
    loop.loop()->StopTimer(&stopped);
  });
  loop.clock()->Advance(std::chrono::milliseconds(20));
  early.Await();
  late.Await();
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
}

TEST(IoLoopTest, ATimerWakesTheLoopBeforeOneThatWasStartedEarlier) {
  LoopTimers loop;
  std::vector<int> notes;
  Note century(2, &notes), soon(1, &notes);
  const TimePoint now = loop.clock()->Now();
  loop.InLoop([&] {
    loop.loop()->StartTimer(&century, now + std::chrono::hours(24 * 365 * 100));
    loop.loop()->StartTimer(&soon, now + std::chrono::milliseconds(3));
  });
  loop.clock()->Advance(std::chrono::milliseconds(3));
  soon.Await();
  loop.InLoop([&] { loop.loop()->StopTimer(&century); });
  EXPECT_EQ(notes, std::vector<int>{1});
}

TEST(IoLoopTest, ATimerWaitsForTheLoopsOwnClock) {
  LoopTimers loop;
  std::vector<int> notes;
  Note first(1, &notes), second(2, &notes);
  const TimePoint now = loop.clock()->Now();
  loop.InLoop([&] {
    loop.loop()->StartTimer(&first, now + std::chrono::milliseconds(1));
    loop.loop()->StartTimer(&second, now + std::chrono::milliseconds(2));
  });
  loop.clock()->Advance(std::chrono::milliseconds(1));
  first.Await();
  loop.InLoop([&] { EXPECT_EQ(notes, std::vector<int>{1}); });
  loop.clock()->Advance(std::chrono::milliseconds(1));
  second.Await();
}

// A delivery that tells the test when it comes.
class Parcel final : public Delivery {
 public:
  void OnDelivery() override { came_.set_value(); }
  void Await() const { future_.wait(); }
  bool Came() const {
    return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

 private:
  std::promise<void> came_;
  const std::future<void> future_ = came_.get_future();
};

TEST(IoLoopTest, DeliveriesOfAWakeBatchComeAtItsEnd) {
  LoopTimers loop;
  const auto first = std::make_shared<Parcel>(), second = std::make_shared<Parcel>();
  {
    const WakeBatch batch;
    loop.loop()->Deliver(first);
    loop.loop()->Deliver(second);
    loop.InLoop([] {});  // what was posted before has run
    loop.InLoop([&] { EXPECT_FALSE(first->Came()); });
  }
  second->Await();
}

TEST(IoLoopTest, AnotherThreadsDeliveryDoesNotWaitForAWakeBatch) {
  LoopTimers loop;
  const auto put_off = std::make_shared<Parcel>(), other = std::make_shared<Parcel>();
  const WakeBatch batch;
  loop.loop()->Deliver(put_off);
  std::thread([&] { loop.loop()->Deliver(other); }).join();
  other->Await();
  put_off->Await();  // they share the wake-up
}

TEST(IoLoopTest, ASweepFindsDeliveriesForWhichNobodyWokeTheLoop) {
  SweptLoop loop;
  loop.Connect();
  const auto parcel = std::make_shared<Parcel>();
  const WakeBatch batch;  // keeps the wake-up until it ends
  loop.loop()->Deliver(parcel);
  parcel->Await();
}

TEST(IoLoopTest, DeliveriesOfABatchThatOutlivesTheLoopAreDropped) {
  const auto parcel = std::make_shared<Parcel>();
  const WakeBatch batch;
  {
    LoopTimers loop;
    loop.loop()->Deliver(parcel);
  }
  EXPECT_EQ(parcel.use_count(), 1);
  EXPECT_FALSE(parcel->Came());
}

// Like an answer, it holds its loop, and whoever delivers it has no other reference.
class Answer final : public Delivery {
 public:
  explicit Answer(std::shared_ptr<IoLoop> loop) : loop_(std::move(loop)) {}
  void OnDelivery() override {}
  IoLoop* loop() const { return loop_.get(); }

 private:
  const std::shared_ptr<IoLoop> loop_;
};

// For the sanitized builds, which report a loop that is used after its end. The moment for that is
// so short that not every run meets it.
TEST(IoLoopTest, ADeliveryMayComeWhileTheLoopEnds) {
  for (int i = 0; i < 300; ++i) {
    auto loop = std::make_shared<IoLoop>(IoLoopOptions{}, nullptr);
    loop->Start("test");
    auto answer = std::make_shared<Answer>(loop);
    std::promise<void> begins;
    std::thread computes([&begins, answer = std::move(answer)]() mutable {
      IoLoop* const its_loop = answer->loop();
      begins.set_value();
      its_loop->Deliver(std::move(answer));
    });
    begins.get_future().wait();
    loop->Join();
    loop.reset();
    computes.join();
  }
}

}  // namespace
}  // namespace nereid::transport
