// SPDX-License-Identifier: Apache-2.0
#include "server/recordings.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "observe/record/phases.h"
#include "scheduling/batch.h"
#include "server/recording_model_testing.h"

namespace nereid {
namespace {

class RecordingsTest : public ::testing::Test {
 protected:
  // Requests a and b in one execution of `model`.
  static void RecordTwo(RecordingModel* model) {
    BatchRecord batch;
    batch.number = model->recorder().NextBatch(1);
    batch.instance = 1;
    batch.reason = static_cast<uint8_t>(BatchReason::kDelayOver);
    batch.requests = batch.units = 2;
    batch.pulled = batch.exec_start = 105;
    batch.exec_end = 121;
    model->recorder().Record(batch);
    model->recorder().Record(Flight("a", 100, 1));
    model->recorder().Record(Flight("b", 99, 1));
  }

  const std::shared_ptr<RecordingModel> model_ = std::make_shared<RecordingModel>("m", 1);
  const std::shared_ptr<RecordingModel> other_ = std::make_shared<RecordingModel>("e", 0);
};

constexpr char kExecution[] =
    R"({"instance":"m_0","number":1,"reason":"delay_over","requests":2,"units":2,"fillers":0,)"
    R"("thread":"instance","failed":false,"left_queue_ns":105,"start_ns":105,"end_ns":121,)"
    R"("members":["a","b"]})";
constexpr char kA[] =
    R"("id":"a","model":"m","version":"3","outcome":"ok","start_ns":100,"latency_ns":22,)"
    R"("phases_ns":{"admission":1,"queue":4,"compute_infer":15,"sending":2},"batch_size":1,)"
    R"("instance":"m_0","batch":1)";

TEST_F(RecordingsTest, Timeline) {
  RecordTwo(model_.get());
  const std::string json = TimelineJson(*model_, {}, {200, 7});
  EXPECT_EQ(json.find(R"({"now_ns":200,"now_unix_ms":7,"model":"m","version":"3","recording":true,)"
                      R"("instances":["m_0"],"executions":[)" +
                      std::string(kExecution) + R"(],"requests":[{)" + kA + "},{"),
            0u)
      << json;
  EXPECT_EQ(TimelineJson(*model_, {122, 10}, {200, 7}),
            R"({"now_ns":200,"now_unix_ms":7,"model":"m","version":"3","recording":true,)"
            R"("instances":["m_0"],"executions":[],"requests":[]})");
}

TEST_F(RecordingsTest, ARequestWithItsExecution) {
  RecordTwo(model_.get());
  EXPECT_EQ(RequestsJson({model_, other_}, "a", {200, 7}),
            R"({"now_ns":200,"now_unix_ms":7,"requests":[{)" + std::string(kA) +
                R"(,"execution":)" + kExecution + "}]}");
  EXPECT_EQ(RequestsJson({model_, other_}, "c", {200, 7}),
            R"({"now_ns":200,"now_unix_ms":7,"requests":[]})");
}

TEST_F(RecordingsTest, AnEnsembleWithItsSteps) {
  FlightRecord whole = Flight("w", 90, 0);
  whole.pulled = whole.exec_start = 0;
  whole.ensemble = 5;
  other_->recorder().Record(whole);
  FlightRecord step = Flight("w", 95, 0);
  step.parent = 5;
  step.step = 1;
  model_->recorder().Record(step);
  const std::string json = RequestsJson({model_, other_}, "w", {200, 7});
  EXPECT_NE(json.find(R"("phases_ns":{"admission":1,"steps":19,"sending":2})"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("ensemble":5,"steps":[{"id":"w","model":"m")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("step_of":5,"step":1)"), std::string::npos) << json;
}

TEST_F(RecordingsTest, TraceEvents) {
  RecordTwo(model_.get());
  const std::string json = TraceEventsJson({other_, model_}, {});
  for (
      const char* const part :
      {R"({"name":"process_name","cat":"__metadata","ph":"M","ts":0.0,"pid":2,"tid":0,"args":{"name":"m 3"}})",
       R"({"name":"thread_name","cat":"__metadata","ph":"M","ts":0.0,"pid":2,"tid":1,"args":{"name":"m_0"}})",
       R"x({"name":"2 (delay_over)","cat":"execution","ph":"X","ts":0.105,"pid":2,"tid":1,"dur":0.016,)x",
       R"({"name":"a","cat":"request","ph":"b","ts":0.1,"pid":2,"tid":0,"id":"2.1","args":{)",
       R"({"name":"queue","cat":"request","ph":"b","ts":0.101,"pid":2,"tid":0,"id":"2.1"})",
       R"({"name":"queue","cat":"request","ph":"e","ts":0.105,"pid":2,"tid":0,"id":"2.1"})"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
}

TEST_F(RecordingsTest, ASequenceHasItsSlot) {
  FlightRecord flight = Flight("s", 100, 1);
  flight.sequence_text.Set("talk");
  flight.SetSequenceSlot(2);
  model_->recorder().Record(flight);
  const std::string requests = RequestsJson({model_}, "s", {200, 7});
  EXPECT_NE(requests.find(R"("sequence":"talk","sequence_slot":2,"instance":"m_0")"),
            std::string::npos)
      << requests;
  const std::string trace = TraceEventsJson({model_}, {});
  for (
      const char* const part :
      {R"({"name":"thread_name","cat":"__metadata","ph":"M","ts":0.0,"pid":1,"tid":4,"args":{"name":"m_0 slot 2"}})",
       R"({"name":"sequence talk","cat":"slot","ph":"X","ts":0.105,"pid":1,"tid":4,"dur":0.015,"args":{"request":"s"}})"}) {
    EXPECT_NE(trace.find(part), std::string::npos) << part << "\n" << trace;
  }
}

TEST_F(RecordingsTest, SlotsWithoutNumber) {
  FlightRecord flight;
  flight.SetSequenceSlot(FlightRecord::kSlotsTold - 1);
  EXPECT_EQ(flight.sequence_slot, FlightRecord::kSlotsTold);
  flight.SetSequenceSlot(FlightRecord::kSlotsTold);
  EXPECT_EQ(flight.sequence_slot, 0);
}

TEST_F(RecordingsTest, TheTraceIsBounded) {
  RecordTwo(model_.get());
  const std::string json = TraceEventsJson({model_}, {0, 1});
  EXPECT_EQ(json.find(R"("id":"1.2")"), std::string::npos) << json;
}

}  // namespace
}  // namespace nereid
