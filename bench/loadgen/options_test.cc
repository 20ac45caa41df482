// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace nereid::bench {
namespace {

absl::StatusOr<Options> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "nereid_loadgen");
  return ParseOptions(static_cast<int>(words.size()), words.data());
}

TEST(LoadgenOptionsTest, ReadsThemAll) {
  const auto options = Parse({"--protocol=grpc",
                              "--address=127.0.0.1:1",
                              "--body=b",
                              "--expect=e",
                              "--expect-form=json",
                              "--concurrency=64",
                              "--channels=2",
                              "--rate=1e3",
                              "--seconds=3",
                              "--warmup=0",
                              "--checks=5",
                              "--repeat=6",
                              "--server-pid=7",
                              "--responses=8",
                              "--sequence-length=4",
                              "--path=/p",
                              "--header-length=9",
                              "--arrivals=bursty",
                              "--seed=8",
                              "--within-us=10",
                              "--tls=1"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->grpc);
  EXPECT_EQ(options->expect_form, AnswerForm::kJson);
  EXPECT_EQ(options->concurrency, 64);
  EXPECT_EQ(options->channels, 2);
  EXPECT_EQ(options->rate, 1000);
  EXPECT_EQ(options->seconds, 3);
  EXPECT_EQ(options->warmup_seconds, 0);
  EXPECT_EQ(options->checks, 5);
  EXPECT_EQ(options->repeat, 6);
  EXPECT_EQ(options->server_pid, 7);
  EXPECT_EQ(options->responses, 8);
  EXPECT_EQ(options->sequence_length, 4);
  EXPECT_EQ(options->path, "/p");
  EXPECT_EQ(options->header_length, 9);
  EXPECT_EQ(options->arrivals, Arrivals::kBursty);
  EXPECT_EQ(options->seed, 8u);
  EXPECT_EQ(options->within_us, 10);
  EXPECT_TRUE(options->tls);
}

TEST(LoadgenOptionsTest, RefusesWhatIsMissing) {
  EXPECT_FALSE(Parse({"--body=b", "--expect=e", "--path=/p"}).ok());
  EXPECT_FALSE(Parse({"--address=a:1", "--expect=e", "--path=/p"}).ok());
  EXPECT_FALSE(Parse({"--address=a:1", "--body=b", "--path=/p"}).ok());
  EXPECT_FALSE(Parse({"--address=a:1", "--body=b", "--expect=e"}).ok());
  EXPECT_TRUE(Parse({"--address=a:1", "--body=b", "--expect=e", "--path=/p"}).ok());
  EXPECT_FALSE(
      Parse({"--address=a:1", "--body=b", "--expect=e", "--path=/p", "--responses=2"}).ok());
}

TEST(LoadgenOptionsTest, RefusesWhatIsWrong) {
  for (const char* word : {"--protocol=smtp", "--concurrency=0", "--seconds=-1", "--rate=fast",
                           "--arrivals=never", "--responses=-1", "--sequence-length=1", "--checks",
                           "--tls=yes", "checks=1", "--nonesuch=1", "--path="}) {
    EXPECT_FALSE(Parse({"--address=a:1", "--body=b", "--expect=e", "--path=/p", word}).ok())
        << word;
  }
}

}  // namespace
}  // namespace nereid::bench
