// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "api/json_members.h"
#include "explain/explain_command.h"
#include "explain/explain_text.h"
#include "explain/records.h"
#include "explain/sentences.h"
#include "observe/record/phases.h"
#include "scheduling/batch.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRequests[] = R"({"now_ns":9,"now_unix_ms":1,"requests":[{"id":"a","model":"m",
"version":"3","outcome":"ok","start_ns":100,"latency_ns":4000000,
"phases_ns":{"queue":3000000,"compute_infer":1000000},"batch_size":1,"instance":"m_0","batch":1,
"execution":{"instance":"m_0","number":17,"reason":"delay_over","requests":2,"units":3,"fillers":0,
"thread":"instance","failed":false,"left_queue_ns":105,"start_ns":1000000,"end_ns":2500000,
"members":["a","b\u001b[31m"]}}]})";

TEST(ExplainTextTest, ARequest) {
  const auto requests = ReadRequests(kRequests);
  ASSERT_TRUE(requests.ok()) << requests.status();
  ASSERT_EQ(requests->size(), 1u);
  EXPECT_EQ(ExplainRequestText((*requests)[0], false),
            R"(Request 'a' of model m version 3: ok in 4.000 ms

  queue               3.000 ms   75 %  ##############################
  compute_infer       1.000 ms   25 %  ##########

It ran in execution 17 of instance m_0: 2 requests together, 3 elements (a, b?[31m), for 1.500 ms.
The batch left the queue because its oldest request had waited for the queue delay.
It spent the largest part of its time (75 %) waiting in the queue for other requests or for an instance.
)");
  EXPECT_THAT(ExplainRequestText((*requests)[0], true), HasSubstr("\033[1mRequest 'a'"));
  ShownRequest single = (*requests)[0];
  single.execution->requests = single.execution->units = 1;
  EXPECT_THAT(ExplainRequestText(single, false),
              HasSubstr("of instance m_0: alone, 1 element, for"));
}

TEST(ExplainTextTest, TheSlotOfASequence) {
  const auto requests = ReadRequests(
      R"({"requests":[{"id":"a","sequence":"42","sequence_slot":0},{"id":"b","sequence":"t\u001b"},
{"id":"c"}]})");
  ASSERT_TRUE(requests.ok()) << requests.status();
  EXPECT_THAT(ExplainRequestText((*requests)[0], false),
              HasSubstr("It belonged to sequence 42, which had slot 0 of the instance.\n"));
  EXPECT_THAT(ExplainRequestText((*requests)[1], false),
              HasSubstr("It belonged to sequence t?.\n"));
  EXPECT_THAT(ExplainRequestText((*requests)[2], false), Not(HasSubstr("sequence")));
}

TEST(ExplainTextTest, AModel) {
  const auto timeline = ReadTimeline(R"({"model":"m","version":"1","recording":true,
"now_ns":1503000200,"instances":["m_0"],"executions":[
{"instance":"m_0","number":2,"reason":"idle_instance","requests":1,"units":1,"start_ns":200,"end_ns":290},
{"instance":"m_0","number":1,"reason":"full","requests":2,"units":2,"start_ns":100,"end_ns":195}],
"requests":[
{"id":"","outcome":"ok","latency_ns":2000000,"phases_ns":{"queue":2000000}},
{"id":"b","instance":"m_0","batch":1,"outcome":"ok","start_ns":200,"latency_ns":3000000,"phases_ns":{"queue":1500000,"compute_infer":1500000}}]})");
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(ExplainModelText(*timeline, false),
            R"(Model m version 1: the last 2 requests and 2 executions

  outcomes        ok 100 %
  batch sizes     1: 50 %, 2: 50 %
  left because    idle_instance 50 %, full 50 %
  instances       1, busy 97 %

                           p50          p90          p99  share
  queue               2.000 ms     2.000 ms     2.000 ms   70 %  ############################
  compute_infer       1.500 ms     1.500 ms     1.500 ms   30 %  ############
  latency             3.000 ms     3.000 ms     3.000 ms

  slowest                  ago  most of it in        batch                      id
  3.000 ms               1.5 s  queue 50 %           1 of 2, full               b
  2.000 ms               1.5 s  queue 100 %                                     none

Requests spend the largest part of their time (70 %) waiting in the queue for other requests or for an instance.
The instances are busy 97 % of the time: requests wait for an instance. More instances, larger batches or a quicker model shorten that.
Batches leave full: a larger max_batch_size would make them larger, if the model gains by that.
)");
}

TEST(ExplainTextTest, OtherAnswers) {
  EXPECT_FALSE(ReadRequests("{}").ok());
  EXPECT_FALSE(ReadRequests("<html>").ok());
  EXPECT_FALSE(ReadTimeline(R"({"requests":[]})").ok());
  EXPECT_EQ(ReadError(R"({"error":"no"})"), "no");
  EXPECT_EQ(ReadError("no"), "");
}

// What the server can say has words here.
TEST(ExplainTextTest, AllReasonsAndPhasesHaveWords) {
  for (size_t i = 0; i < kBatchReasons; ++i) {
    const char* const name = NameOf(static_cast<BatchReason>(i));
    EXPECT_NE(BecauseOf(name), "") << name;
    EXPECT_NE(AdviceOnReason(name), "") << name;
  }
  for (size_t i = 0; i < kPhases; ++i) {
    const char* const name = NameOf(static_cast<Phase>(i));
    EXPECT_NE(DoingIn(name), name);
  }
  EXPECT_EQ(BecauseOf("new"), "");
  EXPECT_EQ(DoingIn("new"), "new");
}

std::string Refusal(const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(ExplainCommand(args, false, out, err), 2);
  EXPECT_EQ(out.str(), "");
  return err.str();
}

TEST(ExplainCommandTest, WrongOptions) {
  EXPECT_THAT(Refusal({}), HasSubstr("one thing can be explained at a time"));
  EXPECT_THAT(Refusal({"a", "--model=b"}), HasSubstr("one thing can be explained at a time"));
  EXPECT_THAT(Refusal({"a", "b"}), HasSubstr("one REQUEST_ID|MODEL at a time, not also b"));
  EXPECT_THAT(Refusal({"a", "--live"}), HasSubstr("unknown option --live"));
  EXPECT_THAT(Refusal({"a", "--wrong"}), HasSubstr("unknown option --wrong"));
  EXPECT_THAT(Refusal({"a", "--url=grpc://h"}), HasSubstr("--url must begin with http"));
}

}  // namespace
}  // namespace nereid
