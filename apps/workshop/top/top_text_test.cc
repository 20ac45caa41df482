// SPDX-License-Identifier: Apache-2.0
#include "top/top_text.h"

#include <absl/strings/str_join.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "top/top_command.h"
#include "top/top_request.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TopView View() {
  TopView view;
  view.server = "nereid 1.0";
  view.uptime_ns = 3'725'000'000'000;
  view.in_flight = 3;
  view.queued = 2;
  view.requests_per_s = 1234.4;
  view.failures_per_s = 0.5;
  TopRow busy;
  busy.model = "digits";
  busy.version = "2";
  busy.state = "READY";
  busy.serves = true;
  busy.queued = 2;
  busy.requests_per_s = 1234.4;
  busy.failures_per_s = 0.5;
  busy.batch_size = 3.25;
  busy.busy = 0.97;
  busy.queue_p50 = 400'000;
  busy.queue_p99 = 12'345'678;
  busy.compute_p50 = 801'000;
  busy.compute_p99 = 12'000'000'000;
  busy.because = "full 75 %";
  TopRow broken;
  broken.model = "broken\033[2J";
  broken.version = "1";
  broken.state = "UNAVAILABLE";
  broken.because = "Not found: no such backend as 'nothing'";
  view.rows = {busy, broken};
  return view;
}

std::string Text(const TopView& view, const TopLayout& layout) {
  return absl::StrJoin(TopLines("http://h:8000", view, layout), "\n") + "\n";
}

TEST(TopTextTest, MemoryIsShownIfItIsMeasured) {
  TopView view = View();
  EXPECT_THAT(Text(view, {}), Not(HasSubstr("MEMORY")));
  view.rows[0].memory_bytes = 350'000'000;
  EXPECT_THAT(Text(view, {}), HasSubstr("MEMORY"));
  EXPECT_THAT(Text(view, {}), HasSubstr("  334M  "));
}

TEST(TopTextTest, ATable) {
  EXPECT_EQ(Text(View(), {}),
            R"(http://h:8000  nereid 1.0  up 1 h 02 min  1234 req/s  0.5 fail/s  3 open  2 queued

MODEL       VERSION  STATE        REQ/S  FAIL/S  QUEUED  BATCH  BUSY  QUEUE p50  QUEUE p99  INFER p50  INFER p99  BECAUSE
broken?[2J        1  UNAVAILABLE      -       -       -      -     -          -          -          -          -  Not found: no such backend as 'nothing'
digits            2  READY         1234     0.5       2    3.2   97%     0.40ms       12ms     0.80ms      12.0s  full 75 %
)");
}

TEST(TopTextTest, ANarrowTable) {
  EXPECT_EQ(Text(View(), {60, 24}), R"(http://h:8000  nereid 1.0  up 1 h 02 min  1234 req/s  0.5 ..

MODEL       STATE        REQ/S  FAIL/S  QUEUED  BUSY
broken?[2J  UNAVAILABLE      -       -       -     -
digits      READY         1234     0.5       2   97%
)");
}

TEST(TopTextTest, GpusHaveALineOfTheirOwn) {
  TopView view = View();
  const uint64_t gib = uint64_t{1} << 30;
  view.gpus = {
      {0, 80 * gib, 0.37, 20 * gib, false}, {1, 80 * gib, -1, 0, false}, {2, gib, 0, 0, true}};
  const std::vector<std::string> lines = TopLines("http://h:8000", view, {});
  EXPECT_EQ(lines[1], "GPU 0 37% 20.0/80.0 GiB  GPU 1 80.0 GiB  GPU 2 FAILED");
  EXPECT_EQ(lines[2], "");
  view.rows.resize(20, view.rows[0]);
  EXPECT_EQ(TopLines("http://h:8000", view, {0, 10}).size(), 10u);
}

TEST(TopTextTest, NoLineIsWiderThanTheTerminal) {
  for (size_t width = 1; width < 200; ++width) {
    for (const std::string& line : TopLines("http://h:8000", View(), {width, 24})) {
      EXPECT_LE(line.size(), width) << line;
    }
  }
}

TEST(TopTextTest, RowsThatDoNotFitAreCounted) {
  TopView view = View();
  view.rows.resize(20, view.rows[0]);
  view.not_shown = 5;
  const std::vector<std::string> lines = TopLines("http://h:8000", view, {0, 10});
  EXPECT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines.back(), "and 19 more");
}

TEST(TopTextTest, Colours) {
  TopLayout layout;
  layout.colour = true;
  const std::string text = Text(View(), layout);
  EXPECT_THAT(text, HasSubstr("\033[1mMODEL"));
  EXPECT_THAT(text, HasSubstr("\033[31m0.5\033[0m"));
  EXPECT_THAT(text, HasSubstr("\033[33m97%\033[0m"));
  EXPECT_THAT(text, HasSubstr("\033[33mUNAVAILABLE\033[0m"));
  EXPECT_THAT(text, Not(HasSubstr("\033[2J")));
}

TEST(TopTextTest, OtherServers) {
  TopView view;
  view.server = "nereid 1.0";
  view.uptime_ns = 7'000'000'000;
  view.restarted = true;
  EXPECT_EQ(TopLines("u", view, {})[0],
            "u  nereid 1.0  up 7 s  - req/s  - fail/s  0 open  0 queued  (it was started anew)");
  EXPECT_EQ(TopLines("u", view, {}).back(), "The server has no model.");
  view.uptime_ns = 50 * 3'600'000'000'000;
  EXPECT_THAT(TopLines("u", view, {})[0], HasSubstr("up 2 d 2 h"));
}

TEST(TopTextTest, NamesAreCutBetweenCharacters) {
  EXPECT_EQ(FitLine("ééééé", 5), "ééééé");
  EXPECT_EQ(FitLine("éééééé", 5), "ééé..");
  EXPECT_EQ(FitLine("a\nb", 0), "a?b");
}

// ---- The command line.

std::string Refusal(const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(TopCommand(args, {}, out, err), 2);
  EXPECT_EQ(out.str(), "");
  return err.str();
}

TEST(TopCommandTest, WrongOptions) {
  EXPECT_THAT(Refusal({"--interval=0.1"}), HasSubstr("--interval is '0.1'; it has to be a number "
                                                     "of seconds from 0.5 to 3600"));
  EXPECT_THAT(Refusal({"--interval=x"}), HasSubstr("--interval is 'x'"));
  EXPECT_THAT(Refusal({"m", "n"}), HasSubstr("one MODEL at a time, not also n"));
  EXPECT_THAT(Refusal({"--live"}), HasSubstr("unknown option --live"));
  EXPECT_THAT(Refusal({"--model=m:1"}), HasSubstr("--model has to be the name of a model alone"));
  EXPECT_THAT(Refusal({"--url=grpc://h"}), HasSubstr("--url must begin with http"));
}

TEST(TopCommandTest, Options) {
  const auto request = ParseTopRequest({"--interval=0.5", "--once", "--json", "--model=a b"});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->interval, std::chrono::milliseconds(500));
  EXPECT_TRUE(request->once && request->json);
  EXPECT_EQ(request->path(), "/v2/nereid/live?model=a%20b");
  EXPECT_EQ(ParseTopRequest({"m", "--interval", "1"})->path(), "/v2/nereid/live?model=m");
  EXPECT_EQ(ParseTopRequest({})->path(), "/v2/nereid/live");
}

}  // namespace
}  // namespace nereid
