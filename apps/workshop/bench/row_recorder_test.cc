// SPDX-License-Identifier: Apache-2.0
#include "bench/row_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "apps/loadgen/testing/fake_transport.h"
#include "bench/confidence.h"
#include "bench/html_report.h"
#include "bench/json_report.h"
#include "bench/svg_plot.h"
#include "bench/text_report.h"

namespace nereid::bench {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConfidenceTest, AsInTablesOfStudentsDistribution) {
  EXPECT_NEAR(StudentQuantile(1), 12.706, 1e-3);
  EXPECT_NEAR(StudentQuantile(30), 2.042, 1e-3);
  EXPECT_NEAR(StudentQuantile(60), 2.000, 2e-3);
  EXPECT_NEAR(StudentQuantile(100000), 1.960, 1e-3);
  EXPECT_TRUE(std::isinf(StudentQuantile(0)));
}

TEST(ConfidenceTest, OfAMean) {
  // Mean 10, deviation 1, quantile of 2 degrees 4.303.
  EXPECT_NEAR(RelativeHalfWidth({9, 10, 11}), 4.303 / std::sqrt(3) / 10, 1e-4);
  EXPECT_EQ(RelativeHalfWidth({5, 5, 5}), 0);
  EXPECT_TRUE(std::isinf(RelativeHalfWidth({5})));
  EXPECT_TRUE(std::isinf(RelativeHalfWidth({})));
  EXPECT_TRUE(std::isinf(RelativeHalfWidth({0, 0})));
}

// Plays a run: time only passes where the test says so.
class RowRecorderTest : public ::testing::Test {
 protected:
  void Start(const RowRecorder::Limits& limits) {
    recorder_.emplace(
        limits, start_, &transport_, [this] { return interrupted_; },
        [this](const RowResult&) { ++windows_seen_; }, &row_);
  }
  BenchTime At(int ms) const { return start_ + milliseconds(ms); }
  void Answer(int begun, int sent, int now, bool ok = true) {
    recorder_->OnAnswer({{0, ok}, At(begun), At(sent), At(now)});
  }
  // One answer that took `latency` ms every 10 ms, from `from` to `to`; what the recorder wants
  // then.
  RunState Steady(int from, int to, int latency = 4) {
    RunState state = RunState::kGoOn;
    for (int now = from; now < to && state == RunState::kGoOn; now += 10) {
      Answer(now - latency, now - latency, now);
      state = recorder_->OnTime(At(now));
    }
    return state;
  }

  const BenchTime start_{};
  FakeTransport transport_{1};
  RowResult row_;
  std::optional<RowRecorder> recorder_;
  bool interrupted_ = false;
  int windows_seen_ = 0;
};

TEST_F(RowRecorderTest, TheWarmUpDoesNotCount) {
  Start({1, 2, 0, false});
  EXPECT_EQ(Steady(10, 3000), RunState::kGoOn);
  recorder_->Finish(At(3000), 0);
  EXPECT_EQ(row_.latency.count(), 200u);
  EXPECT_DOUBLE_EQ(row_.seconds, 2);
  EXPECT_NEAR(row_.throughput(), 100, 1e-9);
  EXPECT_NEAR(static_cast<double>(row_.latency.Percentile(0.5)), 4e6, 4e4);
  EXPECT_EQ(static_cast<int>(row_.windows.size()), windows_seen_ + 1);
}

TEST_F(RowRecorderTest, ASteadyLoadEndsEarly) {
  Start({0, 20, 0.05, false});
  EXPECT_EQ(Steady(10, 20000), RunState::kFinish);
  EXPECT_TRUE(row_.stable);
  EXPECT_EQ(row_.windows.size(), RowRecorder::kLeastWindows);
  EXPECT_EQ(row_.judged_percentile, 0.9);
}

TEST_F(RowRecorderTest, LatenciesThatChangeAreNotStable) {
  Start({0, 20, 0.05, false});
  for (int second = 0; second < 20; ++second) {
    Steady(second * 1000 + 10, second * 1000 + 1000, second % 2 == 0 ? 2 : 8);
  }
  recorder_->Finish(At(20000), 0);
  EXPECT_FALSE(row_.stable);
  EXPECT_GT(row_.latency_interval, 0.05);
}

// An answer to a request that was due in the measured time counts, however late it comes.
TEST_F(RowRecorderTest, AnOpenLoopCountsWhatWasDue) {
  Start({1, 1, 0, true});
  Answer(999, 999, 1500);  // due in the warm-up
  Answer(1000, 1000, 1004);
  Answer(1900, 1950, 4000);
  recorder_->OnTime(At(4000));
  recorder_->Finish(At(4000), 2);
  EXPECT_EQ(row_.latency.count(), 2u);
  EXPECT_EQ(row_.late, 1u);
  EXPECT_EQ(row_.lag.count(), row_.latency.count());
  EXPECT_EQ(row_.errors.total(), 2u);
  EXPECT_EQ(row_.unanswered, 2u);
  EXPECT_NEAR(static_cast<double>(row_.latency.max()), 2.1e9, 1);
  EXPECT_DOUBLE_EQ(row_.seconds, 3) << "until the last answer";
}

TEST_F(RowRecorderTest, FailuresHaveTexts) {
  Start({0, 1, 0, false});
  Answer(0, 0, 5, false);
  recorder_->Finish(At(1000), 0);
  EXPECT_EQ(row_.errors.ByCount()[0].first, "no");
  EXPECT_TRUE(row_.failed());
}

TEST_F(RowRecorderTest, TheUserMayEndIt) {
  Start({0, 100, 0.05, false});
  Steady(10, 500);
  interrupted_ = true;
  EXPECT_EQ(recorder_->OnTime(At(500)), RunState::kLeave);
  recorder_->Finish(At(500), 0);
  EXPECT_TRUE(row_.interrupted);
  EXPECT_EQ(row_.latency.count(), 49u);
  EXPECT_DOUBLE_EQ(row_.seconds, 0.49);
}

TEST(PlotTest, TicksAreEasyToRead) {
  EXPECT_THAT(AxisTicks(8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(AxisTicks(0.9), ElementsAre(0, 0.1, 0.2, testing::DoubleNear(0.3, 1e-9), 0.4, 0.5,
                                          testing::DoubleNear(0.6, 1e-9),
                                          testing::DoubleNear(0.7, 1e-9), 0.8, 0.9));
  for (const double most :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), 1e-9, 1234.5, 1e9}) {
    EXPECT_GE(AxisTicks(most).size(), 4u) << most;
    EXPECT_LE(AxisTicks(most).size(), 11u) << most;
  }
}

TEST(PlotTest, AnEmptyOneIsNothing) {
  EXPECT_EQ(SvgPlot({"t", "x", "y", {{"line", {}}}, {}}), "");
  EXPECT_THAT(SvgPlot({"<t>", "x", "y", {{"line", {{1, 2, "a&b"}}}}, {}}),
              testing::AllOf(HasSubstr("&lt;t&gt;"), HasSubstr("a&amp;b"), HasSubstr("M")));
}

TEST(PlotTest, LabelsStayInThePicture) {
  const std::string plot =
      SvgPlot({"t", "x", "y", {{"line", {{1, 2, "low"}, {9, 2, "high"}}}}, {}});
  EXPECT_THAT(plot, HasSubstr("text-anchor=\"end\">high</text>"));
  EXPECT_THAT(plot, testing::Not(HasSubstr("text-anchor=\"end\">low</text>")));
}

TEST(PlotTest, DotsAreNotJoined) {
  const std::string plot = SvgPlot({"t", "x", "y", {{"dots", {{1, 2, ""}, {9, 2, ""}}, true}}, {}});
  EXPECT_THAT(plot, testing::AllOf(HasSubstr("<circle class=\"mark0\""), HasSubstr("d=\"\"")));
}

RowResult Row(int concurrency) {
  RowResult row;
  row.concurrency = concurrency;
  row.seconds = 2;
  for (int i = 0; i < 1000; ++i) row.latency.Add(1'000'000 + i * 1000);
  row.windows = {{1, 500, 1500, 1990}, {2, 500, 1500, 1990}};
  return row;
}

TEST(ReportTest, TextsOfServersAreEscaped) {
  EXPECT_EQ(HtmlEscaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  BenchOptions options;
  options.model = "<script>";
  options.concurrency = {1, 2};
  std::vector<RowResult> rows = {Row(1), Row(2)};
  rows[1].errors.Add("<script>alert(1)</script>");
  const std::string page = HtmlReport(options, rows);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(page, HasSubstr("Latency against throughput"));
  EXPECT_THAT(page, HasSubstr("over time (concurrency 2)"));
}

TEST(ReportTest, ARowWithoutSuccessIsReportedToo) {
  BenchOptions options;
  RowResult row;
  row.concurrency = 1;
  row.failure = "gone";
  row.throughput_interval = std::numeric_limits<double>::infinity();
  EXPECT_THAT(TextReport(options, {row}), HasSubstr("concurrency 1: ended early: gone"));
  EXPECT_THAT(JsonReport(options, {row}), HasSubstr(R"("throughput_interval":null)"));
  EXPECT_THAT(HtmlReport(options, {row}), Not(HasSubstr("<svg")));
}

TEST(ReportTest, RemarksSayWhatToDoubt) {
  BenchOptions options;
  RowResult row = Row(0);
  row.rate = 500;
  row.late = 200;
  row.client_cpu = 0.95;
  const std::string text = TextReport(options, {row});
  EXPECT_THAT(text, HasSubstr("rate 500/s: NOT STABLE after 2.00 s"));
  EXPECT_THAT(text, HasSubstr("200 requests were sent more than 1 ms after they were due"));
  EXPECT_THAT(text, HasSubstr("does not keep up"));
  EXPECT_THAT(text, HasSubstr("95 % of a core"));
}

TEST(ReportTest, NumbersHaveThreeDigits) {
  EXPECT_EQ(NumberText(0), "0");
  EXPECT_EQ(NumberText(0.1234), "0.123");
  EXPECT_EQ(NumberText(12.34), "12.3");
  EXPECT_EQ(NumberText(1234.5), "1234");
  EXPECT_EQ(TimeText(12.34), "12.3 µs");
  EXPECT_EQ(TimeText(1234), "1.23 ms");
  EXPECT_EQ(TimeText(12e6), "12.0 s");
}

}  // namespace
}  // namespace nereid::bench
