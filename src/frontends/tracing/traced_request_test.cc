// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/traced_request.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontends/tracing/trace_text.h"

namespace nereid {
namespace {

// Hands on the first trace.
class FirstTrace final : public TraceOutput {
 public:
  explicit FirstTrace(std::promise<std::unique_ptr<FinishedTrace>> first)
      : first_(std::move(first)) {}
  void Add(std::unique_ptr<FinishedTrace> trace) override {
    if (!std::exchange(has_one_, true)) first_.set_value(std::move(trace));
  }
  void Retire(std::shared_ptr<const TraceSampler>) override {}
  void Finish() override {}

 private:
  std::promise<std::unique_ptr<FinishedTrace>> first_;
  bool has_one_ = false;
};

class TracedRequestTest : public ::testing::Test {
 protected:
  void Begin(uint32_t level, uint64_t bytes = 1 << 20) {
    std::promise<std::unique_ptr<FinishedTrace>> first;
    finished_ = first.get_future();
    TraceCollector::Limits limits;
    limits.bytes = bytes;
    collector_ = std::make_shared<TraceCollector>(std::make_unique<FirstTrace>(std::move(first)),
                                                  &clock_, limits);
    TraceSettings settings;
    settings.level = level;
    request_ = std::make_shared<TracedRequest>(std::make_shared<TraceSampler>(settings), parent_,
                                               with_spans_, collector_);
    core_ = request_->Begin();
  }
  // The events, one letter each: names, time, tensor, batch, error.
  std::string Kinds() {
    std::string kinds;
    for (const TracedEvent& event : trace_->events) kinds += "ntebx"[event.index()];
    return kinds;
  }
  void Finish() {
    request_.reset();
    core_.reset();
    trace_ = finished_.get();
  }
  static TraceTensor Tensor(const int32_t* value) {
    static constexpr int64_t kShape[] = {1};
    TraceTensor tensor;
    tensor.name = "IN";
    tensor.data_type = DataType::kInt32;
    tensor.base = value;
    tensor.byte_size = sizeof(*value);
    tensor.shape = kShape;
    return tensor;
  }

  std::optional<TraceParent> parent_;
  bool with_spans_ = false;
  FakeClock clock_;
  std::shared_ptr<TraceCollector> collector_;
  std::future<std::unique_ptr<FinishedTrace>> finished_;
  TracedRequestPtr request_;
  TracePtr core_;
  std::unique_ptr<FinishedTrace> trace_;
};

TEST_F(TracedRequestTest, IsFinishedWhenNobodyHasItAnyMore) {
  Begin(kTraceTimestamps);
  request_->NoteAt(kHttpReceiveStart, 5);
  request_->NoteAt(kHttpReceiveStart, 0);  // not seen
  core_->Begin("m", 3, "id", 10);
  TracePtr child = HoldTrace(core_->MakeChild());
  child->Begin("inner", 1, "id", 20);
  ASSERT_TRUE(child->ReportCustom(25, "mine").ok());
  auto note = std::make_unique<SendEndNote>(request_, kHttpSendEnd);
  request_.reset();
  core_.reset();
  child.reset();
  EXPECT_EQ(finished_.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  note.reset();
  trace_ = finished_.get();
  EXPECT_EQ(Kinds(), "tntnttt");
  std::string text;
  AppendTraceText(*trace_, &text);
  EXPECT_NE(text.find("\"mine\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"HTTP_SEND_END\",\"ns\":1000000000"), std::string::npos) << text;
  EXPECT_NE(text.find("\"parent_id\":" + std::to_string(trace_->root_id)), std::string::npos);
}

TEST_F(TracedRequestTest, ModelsAreToldTheirSpans) {
  with_spans_ = true;
  parent_ = ParseTraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=\"1\"");
  Begin(kTraceTimestamps);
  core_->Begin("m", 1, "", 10);
  const std::string context = core_->Context();
  Finish();
  const auto& names = std::get<TracedNames>(trace_->events[0]);
  EXPECT_EQ(context, "{\"traceparent\":\"" + FormatTraceParent(parent_->trace_id, names.span_id) +
                         "\",\"tracestate\":\"a=\\\"1\\\"\"}");
  EXPECT_EQ(trace_->span_trace_id, parent_->trace_id);
}

// Two requests of a batch, in traces of their own, and one that has no span.
TEST_F(TracedRequestTest, TheSpanOfABatchBelongsToTheFirstThatHasOne) {
  with_spans_ = true;
  Begin(kTraceTimestamps);
  core_->Begin("m", 1, "", 10);
  TraceSettings settings;
  settings.level = kTraceTimestamps;
  const auto other = std::make_shared<TracedRequest>(std::make_shared<TraceSampler>(settings),
                                                     std::nullopt, true, collector_);
  const TracePtr second = other->Begin();
  second->Begin("m", 1, "", 10);
  auto bare = std::make_unique<InferenceTrace>(kTraceTimestamps, 0, request_);
  const std::array<InferenceTrace*, 3> ours_first = {bare.get(), core_.get(), second.get()};
  core_->ReportBatch({7, 3, ours_first});
  const std::array<InferenceTrace*, 2> ours_last = {second.get(), core_.get()};
  core_->ReportBatch({8, 2, ours_last});
  core_->ReportBatch({9, 2, ours_first});
  const TraceParent mine = *ParseTraceParent(core_->TraceParent(), "");
  const TraceParent others = *ParseTraceParent(second->TraceParent(), "");
  bare.reset();
  Finish();
  EXPECT_EQ(Kinds(), "ntbbb");
  const auto& first = std::get<TracedBatch>(trace_->events[2]);
  EXPECT_EQ(first.span->trace_id, mine.trace_id);
  ASSERT_EQ(first.members.size(), 2u);
  EXPECT_EQ(first.members[0].span_id, mine.span_id);
  EXPECT_EQ(first.members[1].span_id, others.span_id);
  EXPECT_EQ(first.members[1].trace_id, others.trace_id);
  const auto& last = std::get<TracedBatch>(trace_->events[3]);
  EXPECT_EQ(last.span->trace_id, others.trace_id);
  EXPECT_EQ(last.members.size(), 0u);
  // Another batch has another span.
  EXPECT_NE(std::get<TracedBatch>(trace_->events[4]).span->span_id, first.span->span_id);
}

TEST_F(TracedRequestTest, ErrorsOfModelsAndWhatTheClientIsTold) {
  Begin(kTraceTimestamps);
  core_->Begin("m", 1, "", 10);
  core_->ReportError("the model fails");
  request_->NoteError(absl::InternalError(std::string(2000, 'x')));
  const uint64_t id = core_->id();
  Finish();
  EXPECT_EQ(Kinds(), "ntxx");
  const auto& of_model = std::get<TracedError>(trace_->events[2]);
  EXPECT_EQ(of_model.id, id);
  EXPECT_EQ(of_model.message, "the model fails");
  const auto& told = std::get<TracedError>(trace_->events[3]);
  EXPECT_EQ(told.id, 0u);
  EXPECT_EQ(told.message.size(), 1024u);
  std::string text;
  AppendTraceText(*trace_, &text);
  EXPECT_EQ(text.find("fails"), std::string::npos) << "files are as those of Triton";
}

TEST_F(TracedRequestTest, AClientsOwnMistakesAreNoErrorsOfTheServer) {
  Begin(kTraceTimestamps);
  core_->Begin("m", 1, "", 10);
  for (const absl::Status& error :
       {absl::InvalidArgumentError("no"), absl::NotFoundError("no"), absl::CancelledError("no"),
        absl::ResourceExhaustedError("no"), absl::FailedPreconditionError("no")}) {
    request_->NoteError(error);
  }
  request_->NoteError(absl::UnavailableError("overloaded"));
  Finish();
  EXPECT_EQ(Kinds(), "ntx");
}

TEST_F(TracedRequestTest, TheLogKnowsTheTraceBeforeTheCoreDoes) {
  with_spans_ = true;
  Begin(kTraceTimestamps);
  const std::string before = request_->LogId();
  core_->Begin("m", 1, "", 10);
  EXPECT_EQ(before.size(), 32u);
  EXPECT_EQ(core_->LogId(), before);
  Finish();
}

TEST_F(TracedRequestTest, TensorsAloneHaveNoTimes) {
  Begin(kTraceTensors);
  const int32_t value = 7;
  request_->Note(kHttpReceiveEnd);
  core_->Begin("m", 1, "", 10);
  core_->ReportTensor(TraceActivity::kTensorQueueInput, Tensor(&value));
  Finish();
  EXPECT_EQ(Kinds(), "ne");
  std::string text;
  AppendElements(std::get<TracedTensor>(trace_->events[1]), &text);
  EXPECT_EQ(text, "7");
}

TEST_F(TracedRequestTest, HoldsNoMoreThanItMay) {
  Begin(kTraceTimestamps | kTraceTensors, /*bytes=*/1000);
  core_->Begin("m", 1, "", 10);
  const std::string large(4000, 'x');
  TraceTensor tensor = Tensor(nullptr);
  tensor.base = large.data();
  tensor.byte_size = large.size();
  core_->ReportTensor(TraceActivity::kTensorQueueInput, tensor);
  for (int i = 0; i < 100; ++i) request_->Note(kResponseComplete);
  EXPECT_LE(collector_->memory()->used(), 1000U);
  Finish();
  EXPECT_EQ(Kinds().find('e'), std::string::npos);
  EXPECT_LT(trace_->events.size(), 100U);
  trace_.reset();
  EXPECT_EQ(collector_->memory()->used(), 0U);
}

TEST_F(TracedRequestTest, ManyEventsAreNotAllKept) {
  Begin(kTraceTimestamps, 64 << 20);
  for (size_t i = 0; i < 2 * TracedRequest::kMostEvents; ++i) request_->Note(kResponseComplete);
  Finish();
  EXPECT_EQ(trace_->events.size(), TracedRequest::kMostEvents);
}

}  // namespace
}  // namespace nereid
