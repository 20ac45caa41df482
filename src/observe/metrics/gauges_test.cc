// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/gauges.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(GaugesTest, AreReadInTheOrderOfTheirNames) {
  Gauges gauges;
  double value = 1;
  gauges.Add("b", "the second", [&] { return value; });
  gauges.Add("a", "the first", [] { return 7.0; });
  std::vector<GaugeSample> samples = gauges.Read();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].name, "a");
  EXPECT_EQ(samples[0].help, "the first");
  EXPECT_EQ(samples[0].value, 7);
  EXPECT_EQ(samples[1].value, 1);
  value = 2;
  EXPECT_EQ(gauges.Read()[1].value, 2) << "read when asked, not when added";
}

TEST(GaugesTest, ARemovedGaugeIsNotRead) {
  Gauges gauges;
  int reads = 0;
  gauges.Add("a", "", [&] { return static_cast<double>(++reads); });
  gauges.Remove("a");
  gauges.Remove("unknown");
  EXPECT_TRUE(gauges.Read().empty());
  EXPECT_EQ(reads, 0);
}

TEST(GaugesTest, TheSameNameReplaces) {
  Gauges gauges;
  gauges.Add("a", "", [] { return 1.0; });
  gauges.Add("a", "", [] { return 2.0; });
  ASSERT_EQ(gauges.Read().size(), 1u);
  EXPECT_EQ(gauges.Read()[0].value, 2);
}

TEST(GaugesTest, AGroupIsRemovedTogether) {
  Gauges gauges;
  gauges.Add("other", "", [] { return 1.0; });
  {
    GaugeGroup group(&gauges);
    group.Add("a", "the first", [] { return 2; });
    group.Add("b", "the second", [] { return uint64_t{3}; });
    ASSERT_EQ(gauges.Read().size(), 3u);
    EXPECT_EQ(gauges.Read()[1].value, 3);
    group.End();
    ASSERT_EQ(gauges.Read().size(), 1u);
    group.Add("c", "", [] { return 4; });
    EXPECT_EQ(gauges.Read().size(), 2u);
  }
  ASSERT_EQ(gauges.Read().size(), 1u);
  EXPECT_EQ(gauges.Read()[0].name, "other");
}

}  // namespace
}  // namespace nereid
