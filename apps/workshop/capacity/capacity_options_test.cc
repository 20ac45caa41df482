// SPDX-License-Identifier: Apache-2.0
#include "capacity/capacity_options.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<CapacityOptions> Parse(std::vector<std::string> args) {
  args.insert(args.begin(), {"m", "--times=t"});
  return ParseCapacityOptions(args);
}

std::string Error(std::vector<std::string> args) {
  return std::string(Parse(std::move(args)).status().message());
}

TEST(ParseCapacityOptions, OneNodeAlone) {
  const auto options = Parse({});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->model, "m");
  EXPECT_EQ(options->times_file, "t");
  EXPECT_EQ(options->load.kind, CapacityLoad::Kind::kNone);
}

TEST(ParseCapacityOptions, TheFewestNodes) {
  const auto options = Parse({"--rate=300", "--arrivals=bursty", "--seed=7", "--p99-ms=20",
                              "--batch-size=4", "--balancer=least-in-flight"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->load.kind, CapacityLoad::Kind::kRate);
  EXPECT_EQ(options->load.arrivals, bench::Arrivals::kBursty);
  EXPECT_EQ(options->load.seed, 7U);
  EXPECT_EQ(options->load.seconds, 60);
  EXPECT_EQ(options->load.batch_size, 4u);
  EXPECT_EQ(options->p99_us, 20'000);
  EXPECT_EQ(options->max_nodes, 100u);
  EXPECT_EQ(options->balancer, Balancer::kLeastInFlight);
  EXPECT_TRUE(options->searches());
  EXPECT_FALSE(Parse({"--rate=1", "--nodes=2"})->searches());
}

TEST(ParseCapacityOptions, AnAutoscaler) {
  const auto options =
      Parse({"--day=1,20,1", "--target=4", "--min-nodes=2", "--max-nodes=9", "--gauge=queued",
             "--start-seconds=12", "--interval-seconds=30", "--shrink-seconds=0"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->load.day, ElementsAre(1, 20, 1));
  EXPECT_EQ(options->load.seconds, 86400);
  ASSERT_TRUE(options->autoscaler.has_value());
  EXPECT_EQ(options->autoscaler->target, 4);
  EXPECT_EQ(options->autoscaler->gauge, AutoscalerOptions::Gauge::kQueued);
  EXPECT_EQ(options->autoscaler->least, 2u);
  EXPECT_EQ(options->autoscaler->most, 9u);
  EXPECT_EQ(options->autoscaler->interval, std::chrono::seconds(30));
  EXPECT_EQ(options->autoscaler->stabilization, Duration(0));
  EXPECT_EQ(options->start, std::chrono::seconds(12));
  const auto usual = Parse({"--recording=f", "--target=4"});
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_EQ(usual->start, std::chrono::seconds(30));
  EXPECT_EQ(usual->autoscaler->stabilization, std::chrono::seconds(300));
}

TEST(ParseCapacityOptions, WhatIsWrong) {
  EXPECT_THAT(std::string(ParseCapacityOptions({}).status().message()),
              HasSubstr("MODEL is missing"));
  EXPECT_THAT(std::string(ParseCapacityOptions({"m"}).status().message()),
              HasSubstr("--times is missing"));
  EXPECT_THAT(Error({"other"}), HasSubstr("one MODEL at a time, not also other"));
  EXPECT_THAT(Error({"--rate=1", "--day=1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(Error({"--rate=1", "--nodes=1", "--target=1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(Error({"--rate=1", "--nodes=1", "--max-nodes=1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(Error({"--rate=1"}), HasSubstr("--p99-ms is missing"));
  EXPECT_THAT(Error({"--p99-ms=1"}), HasSubstr("a load is missing"));
  EXPECT_THAT(Error({"--rate=1", "--p99-ms=1", "--start-seconds=0"}),
              HasSubstr("only with --target"));
  EXPECT_THAT(Error({"--rate=1", "--target=1", "--min-nodes=5", "--max-nodes=4"}),
              HasSubstr("--min-nodes is 5, which is more than --max-nodes, 4"));
  EXPECT_THAT(Error({"--day=1", "--arrivals=step", "--nodes=1"}), HasSubstr("only with --rate"));
  EXPECT_THAT(Error({"--recording=f", "--seconds=9", "--nodes=1"}), HasSubstr("--seconds has"));
  EXPECT_THAT(Error({"--recording=f", "--seed=9", "--nodes=1"}), HasSubstr("--seed has"));
  EXPECT_THAT(Error({"--day=0,0", "--nodes=1"}), HasSubstr("no rate above 0"));
  EXPECT_THAT(Error({"--rate=1", "--gauge=x"}), HasSubstr("in-flight or queued"));
  EXPECT_THAT(Error({"--config=x"}), HasSubstr("must name a file config.pbtxt, not x"));
  EXPECT_THAT(Error({"--rate=1", "--nodes=1001"}), HasSubstr("--nodes is '1001'"));
}

TEST(ParseCapacityOptions, TheLoadHasABound) {
  EXPECT_THAT(Error({"--rate=1000000", "--nodes=1"}),
              HasSubstr("about 6e+07 requests in 60 s; 4e+06 can be simulated"));
  EXPECT_TRUE(Parse({"--rate=1000000", "--nodes=1", "--seconds=4"}).ok());
  // In the mean 50 per second.
  EXPECT_THAT(Error({"--day=0,100,0", "--nodes=1"}), HasSubstr("about 4.32e+06 requests"));
  EXPECT_TRUE(Parse({"--day=0,90,0", "--nodes=1"}).ok());
  EXPECT_THAT(Error({"--day=100", "--nodes=1"}), HasSubstr("about 8.64e+06 requests"));
}

}  // namespace
}  // namespace nereid
