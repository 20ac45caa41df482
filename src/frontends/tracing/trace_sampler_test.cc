// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_sampler.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

TraceSettings Settings(uint32_t rate, int64_t count = -1) {
  TraceSettings settings;
  settings.level = kTraceTimestamps;
  settings.rate = rate;
  settings.count = count;
  return settings;
}

int Sampled(TraceSampler* sampler, int requests) {
  int sampled = 0;
  for (int i = 0; i < requests; ++i) sampled += sampler->Sample(false) ? 1 : 0;
  return sampled;
}

TEST(TraceSamplerTest, OneInSoManyFromTheLastOfEach) {
  TraceSampler six(Settings(6));
  EXPECT_EQ(Sampled(&six, 5), 0);
  EXPECT_TRUE(six.Sample(false));
  EXPECT_EQ(Sampled(&six, 14), 2);
  TraceSampler nine(Settings(9));
  EXPECT_EQ(Sampled(&nine, 20), 2);
  TraceSampler all(Settings(1));
  EXPECT_EQ(Sampled(&all, 20), 20);
}

TEST(TraceSamplerTest, CountGoesDownToNothing) {
  TraceSampler sampler(Settings(2, 3));
  EXPECT_EQ(Sampled(&sampler, 4), 2);
  EXPECT_EQ(sampler.left(), 1);
  EXPECT_EQ(sampler.settings().count, 1);
  EXPECT_EQ(Sampled(&sampler, 100), 1);
  EXPECT_EQ(sampler.left(), 0);
  EXPECT_FALSE(sampler.AllCollected(2));
  EXPECT_TRUE(sampler.AllCollected(3));
  sampler.CountLost();
  EXPECT_TRUE(sampler.AllCollected(2));
}

TEST(TraceSamplerTest, CallersForceTraces) {
  TraceSampler never(Settings(0));
  EXPECT_EQ(Sampled(&never, 100), 0);
  EXPECT_TRUE(never.Sample(true));
  TraceSampler used_up(Settings(1, 0));
  EXPECT_TRUE(used_up.Sample(true));
  TraceSettings off = Settings(1);
  off.level = 0;
  TraceSampler sampler(off);
  EXPECT_FALSE(sampler.Sample(true));
}

TEST(TraceSamplerTest, ManyThreadsTakeNoMoreThanTheCount) {
  TraceSampler sampler(Settings(3, 100));
  std::atomic<int> sampled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { sampled += Sampled(&sampler, 1000); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sampled.load(), 100);
}

}  // namespace
}  // namespace nereid
