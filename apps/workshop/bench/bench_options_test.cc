// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_options.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<BenchOptions> Parse(std::vector<std::string> args, const char* url = "grpc://h") {
  args.insert(args.begin(), {absl::StrCat("--url=", url), "--model=m"});
  return ParseBenchOptions(args);
}

std::string Refused(const std::vector<std::string>& args, const char* url = "grpc://h") {
  return std::string(Parse(args, url).status().message());
}

TEST(BenchOptionsTest, AClosedLoopIsTheDefault) {
  const auto options = ParseBenchOptions({"--url=http://h:7", "--model=m:3"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->target.port, 7);
  EXPECT_EQ(options->model, "m");
  EXPECT_EQ(options->version, "3");
  EXPECT_THAT(options->concurrency, ElementsAre(1));
  EXPECT_FALSE(options->open_loop());
  EXPECT_FALSE(options->grpc());
}

TEST(BenchOptionsTest, TheServerOfThisMachineIsTheDefaultAndTheModelNeedsNoOption) {
  const auto options = ParseBenchOptions({"m:3", "--rate", "5"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->target.Url(), "http://127.0.0.1:8000");
  EXPECT_EQ(options->model, "m");
  EXPECT_EQ(options->version, "3");
  EXPECT_THAT(options->rates, ElementsAre(5));
}

TEST(BenchOptionsTest, OpenLoops) {
  const auto options = Parse({"--rate=10:20:10", "--arrivals=constant", "--max-in-flight=9"});
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options->open_loop());
  EXPECT_THAT(options->rates, ElementsAre(10, 20));
  EXPECT_EQ(options->arrivals, Arrivals::kUniform);
  EXPECT_EQ(options->max_in_flight, 9);
  EXPECT_TRUE(Parse({"--trace-file=f"})->open_loop());
}

TEST(BenchOptionsTest, SequencesAreTheConcurrency) {
  EXPECT_THAT(Parse({"--sequences=5"})->concurrency, ElementsAre(5));
  EXPECT_EQ(Parse({"--sequences=5", "--rate=1"})->max_in_flight, 5);
}

TEST(BenchOptionsTest, Inputs) {
  const auto options = Parse({"--input=A:/f:1", "--shape=B:C:3,4", "--input-data=zeros",
                              "--batch-size=2", "--string-length=0", "--stability=2%"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->inputs.files.at("A"), "/f:1");
  EXPECT_THAT(options->inputs.shapes.at("B:C"), ElementsAre(3, 4));
  EXPECT_EQ(options->inputs.fill, FillKind::kZeros);
  EXPECT_EQ(options->inputs.batch_size, 2);
  EXPECT_EQ(options->stability, 2);
  EXPECT_EQ(Parse({"--input-data=file"})->inputs.data_file, "file");
}

TEST(BenchOptionsTest, JsonIsPrintedOrWritten) {
  const auto options = Parse({"--json=f", "--json"});
  EXPECT_TRUE(options->json);
  EXPECT_EQ(options->json_file, "f");
}

TEST(BenchOptionsTest, WhatExcludesEachOther) {
  EXPECT_THAT(Refused({"--rate=1", "--concurrency=1"}), HasSubstr("exclude each other"));
  EXPECT_THAT(Refused({"--rate=1", "--trace-file=f"}), HasSubstr("exclude each other"));
  EXPECT_THAT(Refused({"--sequences=1", "--concurrency=1"}), HasSubstr("--sequences"));
  EXPECT_THAT(Refused({"--sequences=1", "--input-data=f"}), HasSubstr("--sequences"));
  for (const char* const more : {"--responses=2", "--sequences=2", "--shared-memory=system"}) {
    EXPECT_THAT(Refused({"--streaming", more}, "http://h"),
                HasSubstr("and --streaming need a --url with grpc"));
  }
  EXPECT_THAT(Refused({"--responses=2"}), HasSubstr("only with --streaming"));
  EXPECT_THAT(Refused({"--json-tensors"}), HasSubstr("needs a --url with http"));
  EXPECT_THAT(Refused({"--json-tensors", "--shared-memory=system"}, "http://h"),
              HasSubstr("exclude each other"));
}

TEST(BenchOptionsTest, WrongValues) {
  for (const char* arg : {"--concurrency=0",
                          "--concurrency=10001",
                          "--rate=0",
                          "--rate=1e7",
                          "--seconds=0",
                          "--batch-size=0",
                          "--sequence-length=0",
                          "--stability=x",
                          "--shape=A",
                          "--shape=:1",
                          "--shape=A:-1",
                          "--shape=A:",
                          "--input=A",
                          "--arrivals=uniform",
                          "--shared-memory=cuda",
                          "--header=x",
                          "--html",
                          "--html=",
                          "--streaming=1",
                          "--rate"}) {
    EXPECT_FALSE(Parse({arg}).ok()) << arg;
  }
  EXPECT_THAT(Refused({"--header=a:" + std::string(9000, 'x')}), HasSubstr("the most is 8192"));
  EXPECT_EQ(Refused({"--nothing=1"}), "unknown option --nothing");
  EXPECT_EQ(Refused({"--concurency=4"}),
            "unknown option --concurency; did you mean --concurrency?");
}

}  // namespace
}  // namespace nereid::bench
