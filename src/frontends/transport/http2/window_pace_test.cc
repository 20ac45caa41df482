// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/window_pace.h"

#include <gtest/gtest.h>

namespace nereid::http2 {
namespace {

using std::chrono::seconds;

constexpr Duration kStall = seconds(10);

TimePoint At(int second) { return TimePoint() + seconds(1000 + second); }
WindowState StreamClosed(uint64_t bytes) { return {true, false, bytes, 0}; }
WindowState ConnectionClosed(uint64_t bytes) { return {false, true, 0, bytes}; }

TEST(WindowPaceTest, OpenWindowsAreNoWait) {
  WindowPace pace(kStall, 100);
  EXPECT_TRUE(pace.Check(At(0), {}));
  EXPECT_TRUE(pace.Check(At(1000), {}));
}

TEST(WindowPaceTest, AWindowThatStaysClosed) {
  WindowPace pace(kStall, 0);
  EXPECT_TRUE(pace.Check(At(0), StreamClosed(7)));
  EXPECT_TRUE(pace.Check(At(9), StreamClosed(7)));
  EXPECT_FALSE(pace.Check(At(10), StreamClosed(7)));
}

TEST(WindowPaceTest, BytesAreProgressWithoutARate) {
  WindowPace pace(kStall, 0);
  for (int second = 0; second < 100; second += 9) {
    EXPECT_TRUE(pace.Check(At(second), StreamClosed(static_cast<uint64_t>(second))));
  }
}

TEST(WindowPaceTest, ARateEndsDrips) {
  WindowPace pace(kStall, 100);
  EXPECT_TRUE(pace.Check(At(0), StreamClosed(0)));
  EXPECT_TRUE(pace.Check(At(9), StreamClosed(1)));
  EXPECT_FALSE(pace.Check(At(18), StreamClosed(2)));
}

TEST(WindowPaceTest, AnOpenWindowBeginsAnew) {
  WindowPace pace(kStall, 0);
  EXPECT_TRUE(pace.Check(At(0), StreamClosed(0)));
  EXPECT_TRUE(pace.Check(At(5), {}));
  EXPECT_TRUE(pace.Check(At(12), StreamClosed(0)));
  EXPECT_FALSE(pace.Check(At(22), StreamClosed(0)));
}

TEST(WindowPaceTest, OfTheConnectionsWindowAnyStreamsBytesAreProgress) {
  WindowPace pace(kStall, 100);
  EXPECT_TRUE(pace.Check(At(0), ConnectionClosed(0)));
  EXPECT_TRUE(pace.Check(At(9), ConnectionClosed(5000)));
  EXPECT_TRUE(pace.Check(At(18), ConnectionClosed(5001)));
  EXPECT_FALSE(pace.Check(At(28), ConnectionClosed(5001)));
}

TEST(WindowPaceTest, WindowsThatCloseInTurnAreNoWayOut) {
  WindowPace pace(kStall, 0);
  EXPECT_TRUE(pace.Check(At(0), StreamClosed(3)));
  EXPECT_TRUE(pace.Check(At(6), ConnectionClosed(50)));
  EXPECT_FALSE(pace.Check(At(12), StreamClosed(3)));
}

}  // namespace
}  // namespace nereid::http2
