// The timers of an I/O loop, and its end. A loop that does not end, or a timer that does not come,
// hangs the test.
#include "frontends/transport/io_loop.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace nereid::transport {
namespace {

TEST(IoLoopTest, EndsAlthoughASweepIsDueAtTheSameMoment) {
  IoLoopOptions options;
  options.sweep_interval = std::chrono::milliseconds(5);
  for (int i = 0; i < 5; ++i) {
    const auto loop = std::make_shared<IoLoop>(options, nullptr);
    loop->Start("test");
    // Keeps the loop busy until a sweep is due and, unless this thread is slow, Join was called.
    std::promise<void> started;
    loop->Post([&] {
      started.set_value();
      const TimePoint until = loop->Now() + std::chrono::milliseconds(30);
      while (loop->Now() < until) {
      }
    });
    started.get_future().wait();
    loop->Join();
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

}  // namespace
}  // namespace nereid::transport
