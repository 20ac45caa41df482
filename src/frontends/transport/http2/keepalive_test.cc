// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/keepalive.h"

#include <gtest/gtest.h>

namespace nereid::http2 {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Action = Keepalive::Action;

const TimePoint kStart = FromNanos(1'000'000'000);

KeepaliveOptions Fast() {
  KeepaliveOptions options;
  options.time = seconds(10);
  options.timeout = seconds(2);
  options.min_ping_interval = seconds(5);
  return options;
}

// ---- PINGs of the server

TEST(KeepaliveTest, AsksASilentClientAndClosesIfItDoesNotAnswer) {
  Keepalive keepalive(Fast(), kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + seconds(9), true), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + seconds(10), true), Action::kPing);
  EXPECT_EQ(keepalive.Check(kStart + seconds(11), true), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + seconds(12), true), Action::kClose);
}

TEST(KeepaliveTest, AnythingReceivedAnswers) {
  Keepalive keepalive(Fast(), kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + seconds(10), true), Action::kPing);
  keepalive.Received(kStart + seconds(11));
  EXPECT_EQ(keepalive.Check(kStart + seconds(13), true), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + seconds(20), true), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + seconds(21), true), Action::kPing);
}

TEST(KeepaliveTest, AnIdleConnectionIsAskedOnlyIfPermitted) {
  Keepalive keepalive(Fast(), kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + hours(1), false), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + hours(1), true), Action::kPing);

  KeepaliveOptions options = Fast();
  options.permit_without_calls = true;
  Keepalive permitted(options, kStart, 1);
  EXPECT_EQ(permitted.Check(kStart + seconds(10), false), Action::kPing);
}

TEST(KeepaliveTest, TheAnswerIsAwaitedEvenIfTheRequestsEnd) {
  Keepalive keepalive(Fast(), kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + seconds(10), true), Action::kPing);
  EXPECT_EQ(keepalive.Check(kStart + seconds(12), false), Action::kClose);
}

TEST(KeepaliveTest, AsksOnlySoOftenWithoutSendingData) {
  Keepalive keepalive(Fast(), kStart, 1);
  TimePoint now = kStart;
  const auto ask = [&] {
    now += seconds(10);
    const Action action = keepalive.Check(now, true);
    keepalive.Received(now);
    return action;
  };
  EXPECT_EQ(ask(), Action::kPing);
  EXPECT_EQ(ask(), Action::kPing);
  EXPECT_EQ(ask(), Action::kNone);
  keepalive.AnswerSent();
  EXPECT_EQ(ask(), Action::kPing);
  EXPECT_EQ(ask(), Action::kPing);
  EXPECT_EQ(ask(), Action::kNone);
}

TEST(KeepaliveTest, ZeroIsAnyNumberOfPingsWithoutData) {
  KeepaliveOptions options = Fast();
  options.max_pings_without_data = 0;
  Keepalive keepalive(options, kStart, 1);
  TimePoint now = kStart;
  for (int i = 0; i < 100; ++i) {
    now += seconds(10);
    ASSERT_EQ(keepalive.Check(now, true), Action::kPing);
    keepalive.Received(now);
  }
}

// ---- PINGs of the client

TEST(KeepaliveTest, AClientMayAskAgainAfterTheInterval) {
  Keepalive keepalive(Fast(), kStart, 1);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(keepalive.OnPing(kStart + i * seconds(5), true));
}

TEST(KeepaliveTest, TheThirdEarlyPingIsTooMuch) {
  Keepalive keepalive(Fast(), kStart, 1);
  const milliseconds early(4999);
  EXPECT_TRUE(keepalive.OnPing(kStart, true));
  EXPECT_TRUE(keepalive.OnPing(kStart + early, true));
  EXPECT_TRUE(keepalive.OnPing(kStart + 2 * early, true));
  EXPECT_FALSE(keepalive.OnPing(kStart + 3 * early, true));
}

TEST(KeepaliveTest, DataOfAnAnswerForgivesEarlyPings) {
  Keepalive keepalive(Fast(), kStart, 1);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(keepalive.OnPing(kStart, true));
    EXPECT_TRUE(keepalive.OnPing(kStart, true));
    EXPECT_TRUE(keepalive.OnPing(kStart, true));
    keepalive.AnswerSent();
  }
}

TEST(KeepaliveTest, WithoutRequestsTheIntervalIsTwoHours) {
  Keepalive keepalive(Fast(), kStart, 1);
  EXPECT_TRUE(keepalive.OnPing(kStart, false));
  EXPECT_TRUE(keepalive.OnPing(kStart + hours(2), false));
  EXPECT_TRUE(keepalive.OnPing(kStart + hours(3), false));
  EXPECT_TRUE(keepalive.OnPing(kStart + hours(4), false));
  EXPECT_FALSE(keepalive.OnPing(kStart + hours(5), false));
}

TEST(KeepaliveTest, WithoutRequestsALongerIntervalStaysAndPermissionMakesItTheUsualOne) {
  KeepaliveOptions options = Fast();
  options.max_ping_strikes = 1;
  options.min_ping_interval = hours(3);
  Keepalive slow(options, kStart, 1);
  EXPECT_TRUE(slow.OnPing(kStart, false));
  EXPECT_TRUE(slow.OnPing(kStart + minutes(150), false));
  EXPECT_FALSE(slow.OnPing(kStart + minutes(300), false));

  options.min_ping_interval = seconds(5);
  options.permit_without_calls = true;
  Keepalive permitted(options, kStart, 1);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(permitted.OnPing(kStart + i * seconds(5), false));
}

TEST(KeepaliveTest, ZeroIsAnyNumberOfStrikes) {
  KeepaliveOptions options = Fast();
  options.max_ping_strikes = 0;
  Keepalive keepalive(options, kStart, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(keepalive.OnPing(kStart, false));
}

// ---- The age of the connection

TEST(KeepaliveTest, AnOldConnectionIsAnnouncedOnceAndClosedAfterTheGrace) {
  KeepaliveOptions options = Fast();
  options.time = hours(2);
  options.max_age = seconds(100);
  options.max_age_grace = seconds(30);
  Keepalive keepalive(options, kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + seconds(99), true), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + seconds(105), true), Action::kAnnounce);
  EXPECT_EQ(keepalive.Check(kStart + seconds(134), true), Action::kNone);
  EXPECT_EQ(keepalive.Check(kStart + seconds(135), true), Action::kClose);
}

TEST(KeepaliveTest, TheFactorSpreadsTheAges) {
  KeepaliveOptions options = Fast();
  options.max_age = seconds(100);
  options.time = hours(2);
  Keepalive early(options, kStart, 0.9), late(options, kStart, 1.1);
  EXPECT_EQ(early.Check(kStart + seconds(89), true), Action::kNone);
  EXPECT_EQ(early.Check(kStart + seconds(91), true), Action::kAnnounce);
  EXPECT_EQ(late.Check(kStart + seconds(109), true), Action::kNone);
  EXPECT_EQ(late.Check(kStart + seconds(111), true), Action::kAnnounce);
}

TEST(KeepaliveTest, WithoutAGraceAnOldConnectionIsStillAskedForASignOfLife) {
  KeepaliveOptions options = Fast();
  options.max_age = seconds(5);
  Keepalive keepalive(options, kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + seconds(5), true), Action::kAnnounce);
  EXPECT_EQ(keepalive.Check(kStart + seconds(10), true), Action::kPing);
  EXPECT_EQ(keepalive.Check(kStart + seconds(12), true), Action::kClose);
}

TEST(KeepaliveTest, WithoutAMaximumAConnectionIsNeverOld) {
  KeepaliveOptions options = Fast();
  Keepalive keepalive(options, kStart, 1);
  EXPECT_EQ(keepalive.Check(kStart + hours(100'000), false), Action::kNone);
}

}  // namespace
}  // namespace nereid::http2
