// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_options.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<TuneOptions> Parse(std::vector<std::string> args) {
  args.insert(args.begin(), {"m", "--model-repository=r"});
  return ParseTuneOptions(args);
}

std::string Error(std::vector<std::string> args) {
  return std::string(Parse(std::move(args)).status().message());
}

TEST(ParseTuneOptions, TheUsualOnes) {
  const auto options = Parse({});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->model, "m");
  EXPECT_EQ(options->repository, "r");
  EXPECT_EQ(options->load.kind, TuneLoad::Kind::kSweep);
  EXPECT_EQ(options->load.concurrency, 64);
  EXPECT_EQ(options->goal.p99_us, 0);
  EXPECT_GE(options->max_instances, 1);
  EXPECT_LE(options->max_instances, 8);
}

TEST(ParseTuneOptions, GoalAndLoad) {
  const auto options = Parse({"--p99-ms=20", "--objective=latency", "--rate=300", "--batch-size=2",
                              "--max-batch-sizes=4,8", "--threads=1,2", "--memory-mb=500",
                              "--backend-config=a,b=c", "--same-backend", "--backend-directory=d"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->goal.p99_us, 20'000);
  EXPECT_EQ(options->goal.memory_mib, 500);
  EXPECT_EQ(options->goal.objective, Objective::kLatency);
  EXPECT_EQ(options->load.kind, TuneLoad::Kind::kRate);
  EXPECT_EQ(options->load.batch_size, 2u);
  EXPECT_THAT(options->max_batch_sizes, ElementsAre(4, 8));
  EXPECT_THAT(options->threads, ElementsAre(1, 2));
  EXPECT_THAT(options->server_options,
              ElementsAre("--backend-config=a,b=c", "--backend-directory=d"));
  EXPECT_EQ(options->backend_directory, "d");
  EXPECT_TRUE(options->same_backend);
  EXPECT_FALSE(Parse({})->same_backend);
  EXPECT_EQ(Parse({"--measure=0"})->measure, 0);
  EXPECT_EQ(Parse({"--concurrency=3"})->load.concurrency, 3);
  EXPECT_EQ(Parse({"--max-concurrency=3"})->load.kind, TuneLoad::Kind::kSweep);
  EXPECT_EQ(Parse({"--recording=f"})->load.kind, TuneLoad::Kind::kRecording);
}

TEST(ParseTuneOptions, MemoryNeedsWhatItHasToSufficeFor) {
  const std::string memory = "--objective=memory";
  EXPECT_EQ(Parse({memory, "--min-throughput=9"})->goal.min_throughput, 9);
  EXPECT_TRUE(Parse({memory, "--min-throughput=9"})->goal.needs_memory());
  EXPECT_TRUE(Parse({memory, "--rate=5", "--p99-ms=3"}).ok());
  EXPECT_THAT(Error({memory}), HasSubstr("needs --min-throughput, or a load and --p99-ms"));
  EXPECT_THAT(Error({memory, "--p99-ms=3"}), HasSubstr("one request now and then"));
  EXPECT_THAT(Error({memory, "--rate=5"}), HasSubstr("needs --p99-ms or --min-throughput"));
  EXPECT_THAT(Error({memory, "--min-throughput=9", "--memory-mb=5"}),
              HasSubstr("which looks for the least"));
  EXPECT_THAT(Error({memory, "--min-throughput=9", "--rate=5"}), HasSubstr("more than --rate"));
  EXPECT_THAT(Error({"--min-throughput=9"}), HasSubstr("only with --objective=latency or memory"));
}

TEST(ParseTuneOptions, WhatIsWrong) {
  EXPECT_THAT(std::string(ParseTuneOptions({}).status().message()), HasSubstr("MODEL is missing"));
  EXPECT_THAT(std::string(ParseTuneOptions({"m"}).status().message()),
              HasSubstr("--model-repository is missing"));
  EXPECT_THAT(Error({"other"}), HasSubstr("one MODEL at a time, not also other"));
  EXPECT_THAT(Error({"--rate=1", "--concurrency=1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(Error({"--rate=1", "--max-concurrency=1"}), HasSubstr("only without"));
  EXPECT_THAT(Error({"--objective=latency"}), HasSubstr("needs a load"));
  EXPECT_THAT(Error({"--objective=speed"}), HasSubstr("throughput, latency or memory"));
  EXPECT_THAT(Error({"--measure=-1"}), HasSubstr("--measure is '-1'"));
  EXPECT_THAT(Error({"--max-instances=0"}), HasSubstr("--max-instances is '0'"));
}

}  // namespace
}  // namespace nereid
