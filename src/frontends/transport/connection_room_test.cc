// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/connection_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/transport/io_loop.h"

namespace nereid::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TimePoint Second(int64_t seconds) {
  return FromNanos(static_cast<uint64_t>(seconds) * 1'000'000'000);
}

// A client that has been idle since a given time, or is busy. Owned by the test and by its loop.
class Client final : public LoopConnection {
 public:
  Client(IoLoop* loop, std::string name, std::optional<TimePoint> idle_since, BudgetUnits slot,
         std::vector<std::string>* gone)
      : loop_(loop),
        name_(std::move(name)),
        idle_since_(idle_since),
        slot_(std::move(slot)),
        gone_(gone) {}

  void Start() override { loop_->Register(this); }
  void Sweep(TimePoint) override {}
  void OnDrain() override {}
  void Abort() override {
    if (closed_) return;
    closed_ = true;
    slot_.Return();
    loop_->Unregister(this);
  }
  std::optional<TimePoint> IdleSince() const override { return idle_since_; }
  void LetGo() override {
    gone_->push_back(name_);
    Abort();
  }

 private:
  IoLoop* const loop_;
  const std::string name_;
  const std::optional<TimePoint> idle_since_;
  BudgetUnits slot_;
  std::vector<std::string>* const gone_;  // one connection is let go at a time in these tests
  bool closed_ = false;
};

// A port with some loops.
class TestPort {
 public:
  TestPort(ConnectionRoom* room, int loops, bool goes_last) : room_(room) {
    for (int i = 0; i < loops; ++i) {
      loops_.push_back(std::make_shared<IoLoop>(
          IoLoopOptions(), [this](const std::shared_ptr<IoLoop>& loop, Socket, BudgetUnits slot) {
            clients_.push_back(
                std::make_shared<Client>(loop.get(), name_, idle_since_, std::move(slot), gone_));
            return clients_.back();
          }));
      loops_.back()->Start("test");
    }
    room->Join({&connections_, loops_, goes_last});
  }
  ~TestPort() {
    room_->Leave(&connections_);
    for (const auto& loop : loops_) loop->Join();
  }

  void Connect(size_t loop, const std::string& name, std::optional<TimePoint> idle_since,
               std::vector<std::string>* gone) {
    name_ = name;
    idle_since_ = idle_since;
    gone_ = gone;
    loops_[loop]->Adopt(Socket(loops_[loop]->context()), *connections_.Take(1));
    std::promise<void> started;
    loops_[loop]->Post([&] { started.set_value(); });
    started.get_future().wait();
  }
  uint64_t used() const { return connections_.used(); }

 private:
  ConnectionRoom* const room_;
  Budget connections_{"connections", 0};
  std::vector<std::shared_ptr<IoLoop>> loops_;
  std::vector<std::shared_ptr<Client>> clients_;
  std::string name_;
  std::optional<TimePoint> idle_since_;
  std::vector<std::string>* gone_ = nullptr;
};

class ConnectionRoomTest : public ::testing::Test {
 protected:
  // Lets idle connections go; returns how many went.
  static size_t LetIdleGo(ConnectionRoom* room) {
    std::promise<size_t> done;
    room->LetIdleGo([&](size_t gone) { done.set_value(gone); });
    return done.get_future().get();
  }

  std::vector<std::string> gone_;
};

TEST_F(ConnectionRoomTest, SomeDescriptorsAreKeptBack) {
  EXPECT_EQ(ConnectionRoom::MostFor(256, 60), 256u - 60 - 32);
  EXPECT_EQ(ConnectionRoom::MostFor(1024, 100), 1024u - 100 - 128);
  EXPECT_EQ(ConnectionRoom::MostFor(1'048'576, 100), 1'048'576u - 100 - 1024);
}

TEST_F(ConnectionRoomTest, AFewClientsAreServedInAnyCase) {
  EXPECT_EQ(ConnectionRoom::MostFor(0, 0), 8u);
  EXPECT_EQ(ConnectionRoom::MostFor(64, 60), 8u);
  EXPECT_EQ(ConnectionRoom::MostFor(32 + 10 + 9, 10), 9u);
}

TEST_F(ConnectionRoomTest, TheLongestIdleGoesWhateverItsLoop) {
  ConnectionRoom room(10);
  TestPort port(&room, 2, /*goes_last=*/false);
  port.Connect(0, "second", Second(20), &gone_);
  port.Connect(0, "busy", std::nullopt, &gone_);
  port.Connect(1, "first", Second(10), &gone_);
  port.Connect(1, "third", Second(30), &gone_);
  EXPECT_EQ(LetIdleGo(&room), 1u);
  EXPECT_THAT(gone_, ElementsAre("first"));
  EXPECT_EQ(LetIdleGo(&room), 1u);
  EXPECT_EQ(LetIdleGo(&room), 1u);
  EXPECT_THAT(gone_, ElementsAre("first", "second", "third"));
  EXPECT_EQ(LetIdleGo(&room), 0u) << "the busy one stays";
  EXPECT_EQ(port.used(), 1u);
}

TEST_F(ConnectionRoomTest, SomePortsGoLast) {
  ConnectionRoom room(10);
  TestPort grpc(&room, 1, /*goes_last=*/true);
  TestPort http(&room, 1, /*goes_last=*/false);
  grpc.Connect(0, "grpc", Second(10), &gone_);
  http.Connect(0, "http", Second(20), &gone_);
  EXPECT_EQ(LetIdleGo(&room), 1u);
  EXPECT_EQ(LetIdleGo(&room), 1u);
  EXPECT_THAT(gone_, ElementsAre("http", "grpc"));
}

TEST_F(ConnectionRoomTest, AsManyGoAsThereAreTooMany) {
  ConnectionRoom room(2);
  TestPort port(&room, 1, /*goes_last=*/false);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(room.IsFull());
    port.Connect(0, std::to_string(i), Second(i), &gone_);
  }
  EXPECT_TRUE(room.IsFull());
  EXPECT_FALSE(room.IsOver());
  for (int i = 2; i < 11; ++i) port.Connect(0, std::to_string(i), Second(i), &gone_);
  EXPECT_TRUE(room.IsOver());
  EXPECT_THAT(std::string(room.Refusal().message()),
              HasSubstr("has 11 connections, and its limit of open files (ulimit -n) allows 2"));
  EXPECT_EQ(LetIdleGo(&room), 10u);
  EXPECT_EQ(port.used(), 1u);
  EXPECT_FALSE(room.IsFull());
}

TEST_F(ConnectionRoomTest, WithoutPortsNobodyGoes) {
  ConnectionRoom room(2);
  EXPECT_EQ(LetIdleGo(&room), 0u);
  { const TestPort port(&room, 1, /*goes_last=*/false); }
  EXPECT_EQ(LetIdleGo(&room), 0u);
  EXPECT_THAT(gone_, IsEmpty());
}

}  // namespace
}  // namespace nereid::transport
