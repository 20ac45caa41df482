// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/doorbell.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace nereid::transport {
namespace {

using std::chrono::seconds;

TEST(DoorbellTest, CallsOnTheThreadOfTheContext) {
  boost::asio::io_context context(1);
  std::thread::id caller;
  Doorbell bell(context, [&] {
    caller = std::this_thread::get_id();
    context.stop();
  });
  std::thread([&] { bell.Ring(); }).join();
  context.run();
  EXPECT_EQ(caller, std::this_thread::get_id());
}

TEST(DoorbellTest, ManyRingsAreOneCall) {
  boost::asio::io_context context(1);
  int calls = 0;
  Doorbell bell(context, [&] { ++calls; });
  EXPECT_EQ(context.poll(), 0);
  for (int i = 0; i < 5; ++i) bell.Ring();
  context.poll();
  EXPECT_EQ(calls, 1);
  context.poll();
  EXPECT_EQ(calls, 1);
}

TEST(DoorbellTest, ARingDuringTheCallBringsAnother) {
  boost::asio::io_context context(1);
  int calls = 0;
  Doorbell* rings = nullptr;
  Doorbell bell(context, [&] {
    if (++calls < 3) rings->Ring();
  });
  rings = &bell;
  bell.Ring();
  while (calls < 3) ASSERT_EQ(context.run_one_for(seconds(30)), 1);
  context.poll();
  EXPECT_EQ(calls, 3);
}

TEST(DoorbellTest, WakesAContextThatSleeps) {
  boost::asio::io_context context(1);
  int calls = 0;
  Doorbell bell(context, [&] {
    if (++calls == 1000) context.stop();
  });
  std::thread ringer([&] {
    while (!context.stopped()) bell.Ring();
  });
  context.run();
  ringer.join();
  EXPECT_EQ(calls, 1000);
}

TEST(DoorbellTest, ADisconnectedOneLetsTheContextEnd) {
  boost::asio::io_context context(1);
  int calls = 0;
  Doorbell bell(context, [&] { ++calls; });
  bell.Disconnect();
  context.run();
  bell.Ring();  // may come late, and does nothing
  context.restart();
  context.run();
  EXPECT_EQ(calls, 0);
}

TEST(DoorbellTest, ARingThatWasNoticedBeforeTheDisconnectionIsDropped) {
  boost::asio::io_context context(1);
  int calls = 0;
  Doorbell* rings = nullptr;
  Doorbell other(context, [&] { rings->Disconnect(); });
  Doorbell bell(context, [&] { ++calls; });
  rings = &bell;
  // The context notices both at once, and calls this one first.
  other.Ring();
  bell.Ring();
  context.run_one();
  other.Disconnect();
  context.run();  // ends, since nobody waits any more
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace nereid::transport
