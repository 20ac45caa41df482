// SPDX-License-Identifier: Apache-2.0
#include "observe/trace/inference_trace.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid {
namespace {

using ::testing::ElementsAre;

// Records the calls, and calls back into the trace as an application may.
class Diary final : public TraceReceiver {
 public:
  void OnActivity(InferenceTrace* trace, TraceActivity activity, uint64_t time_ns) override {
    entries.push_back(std::to_string(static_cast<int>(activity)) + "@" + std::to_string(time_ns) +
                      " " + trace->Context());
  }
  void OnTensor(InferenceTrace* trace, TraceActivity activity, const TraceTensor& tensor) override {
    EXPECT_EQ(trace->MakeChild()->parent_id(), trace->id());
    entries.push_back(std::to_string(static_cast<int>(activity)) + " " + tensor.name);
  }
  void OnRelease(std::unique_ptr<InferenceTrace> trace) override {
    returned.push_back(std::move(trace));
  }

  std::vector<std::string> entries;
  std::vector<std::unique_ptr<InferenceTrace>> returned;
};

class InferenceTraceTest : public ::testing::Test {
 protected:
  // Breaks a cycle: the diary holds the returned traces, and the traces hold the diary.
  ~InferenceTraceTest() override { diary_->returned.clear(); }

  std::unique_ptr<InferenceTrace> Make(uint32_t level, uint64_t parent_id = 0) {
    return std::make_unique<InferenceTrace>(level, parent_id, diary_);
  }
  static void ReportAll(InferenceTrace* trace) {
    trace->Report(TraceActivity::kQueueStart, 7);
    TraceTensor tensor;
    tensor.name = "t";
    trace->ReportTensor(TraceActivity::kTensorQueueInput, tensor);
  }

  const std::shared_ptr<Diary> diary_ = std::make_shared<Diary>();
};

TEST_F(InferenceTraceTest, LevelsDecideWhatIsReported) {
  for (const uint32_t level : {kTraceMin, kTraceMax, kTraceMin | kTraceMax, kTraceTimestamps}) {
    diary_->entries.clear();
    ReportAll(Make(level).get());
    EXPECT_THAT(diary_->entries, ElementsAre("1@7 ")) << level;
  }
  diary_->entries.clear();
  ReportAll(Make(0).get());
  EXPECT_THAT(diary_->entries, ElementsAre());
  ReportAll(Make(kTraceTensors).get());
  EXPECT_THAT(diary_->entries, ElementsAre("7 t"));
  diary_->entries.clear();
  ReportAll(Make(kTraceMax | kTraceTensors).get());
  EXPECT_THAT(diary_->entries, ElementsAre("1@7 ", "7 t"));
}

TEST_F(InferenceTraceTest, ChildrenKnowTheirParent) {
  const auto parent = Make(kTraceTimestamps, 99);
  EXPECT_EQ(parent->parent_id(), 99u);
  parent->SetContext("{}");
  const auto child = parent->MakeChild();
  EXPECT_GT(child->id(), parent->id());
  EXPECT_EQ(child->parent_id(), parent->id());
  EXPECT_EQ(child->model_name(), "");
  EXPECT_EQ(child->model_version(), -1);
  EXPECT_STREQ(child->Context(), "");
  ReportAll(child.get());
  EXPECT_THAT(diary_->entries, ElementsAre("1@7 "));
}

TEST_F(InferenceTraceTest, GoesBackWhenTheLastHolderLetsGo) {
  auto made = Make(kTraceTimestamps);
  InferenceTrace* const raw = made.get();
  for (size_t flight = 1; flight < 3; ++flight) {
    TracePtr first = HoldTrace(std::move(made));
    TracePtr second = first;
    first.reset();
    EXPECT_EQ(diary_->returned.size(), 0u);
    second.reset();
    ASSERT_EQ(diary_->returned.size(), 1u) << "flight " << flight;
    made = std::move(diary_->returned[0]);
    diary_->returned.clear();
    EXPECT_EQ(made.get(), raw);
  }
  EXPECT_EQ(HoldTrace(nullptr), nullptr);
}

// The trace may be the only owner of its receiver.
TEST_F(InferenceTraceTest, ItsReceiverMayGoWithIt) {
  class Dropper final : public TraceReceiver {
   public:
    explicit Dropper(int* released) : released_(released) {}
    void OnActivity(InferenceTrace*, TraceActivity, uint64_t) override {}
    void OnTensor(InferenceTrace*, TraceActivity, const TraceTensor&) override {}
    void OnRelease(std::unique_ptr<InferenceTrace> trace) override {
      trace.reset();
      ++*released_;
    }

   private:
    int* const released_;
  };
  int released = 0;
  HoldTrace(std::make_unique<InferenceTrace>(0, 0, std::make_shared<Dropper>(&released))).reset();
  EXPECT_EQ(released, 1);
}

TEST_F(InferenceTraceTest, BeginsOnceInAFlight) {
  TracePtr trace = HoldTrace(Make(kTraceTimestamps));
  trace->Begin("m", 1, "id", 5);
  trace->Begin("m", 2, "id", 6);
  EXPECT_THAT(diary_->entries, ElementsAre("0@5 "));
  EXPECT_EQ(trace->model_name(), "m");
  EXPECT_EQ(trace->model_version(), 2);
  EXPECT_EQ(trace->request_id(), "id");
  trace.reset();
  ASSERT_EQ(diary_->returned.size(), 1u);
  trace = HoldTrace(std::move(diary_->returned[0]));
  trace->Begin("n", 3, "", 8);
  EXPECT_THAT(diary_->entries, ElementsAre("0@5 ", "0@8 "));
}

TEST_F(InferenceTraceTest, CustomActivitiesAreNamedInTheContext) {
  const auto trace = Make(kTraceTimestamps);
  EXPECT_TRUE(trace->ReportCustom(3, "a \"b\"").ok());
  EXPECT_TRUE(trace->ReportCustom(4, "c").ok());
  EXPECT_THAT(diary_->entries,
              ElementsAre(R"(10@3 {"3":"a \"b\""})", R"(10@4 {"3":"a \"b\"","4":"c"})"));
  trace->SetContext(" {\"traceparent\":\"x\"}\n");
  EXPECT_TRUE(trace->ReportCustom(5, "d").ok());
  EXPECT_STREQ(trace->Context(), R"({"traceparent":"x","5":"d"})");
  trace->SetContext("{ }");
  EXPECT_TRUE(trace->ReportCustom(6, "e").ok());
  EXPECT_STREQ(trace->Context(), R"({ "6":"e"})");

  diary_->entries.clear();
  for (const char* no_object : {"text", "[1]", "{", "}"}) {
    trace->SetContext(no_object);
    EXPECT_EQ(trace->ReportCustom(7, "f").code(), absl::StatusCode::kInvalidArgument) << no_object;
    EXPECT_STREQ(trace->Context(), no_object);
  }
  EXPECT_THAT(diary_->entries, ElementsAre());
}

TEST_F(InferenceTraceTest, ALogKnowsItByTheIdThatOtherProgramsKnow) {
  const auto trace = Make(0);
  const std::string number = absl::StrCat(trace->id());
  EXPECT_EQ(trace->LogId(), number);
  const std::string id = "0af7651916cd43dd8448eb211c80319c";
  trace->SetContext("{\"traceparent\":\"00-" + id + "-b7ad6b7169203331-01\"}");
  EXPECT_EQ(trace->LogId(), id);
  for (const char* other : {"{}", "{\"traceparent\":\"00-0af7\"}", "{\"traceparent\":\"00-",
                            "{\"traceparent\":\"00-no hexadecimal digits are found here\"}"}) {
    trace->SetContext(other);
    EXPECT_EQ(trace->LogId(), number) << other;
  }
}

TEST_F(InferenceTraceTest, ALentContextStays) {
  const auto trace = Make(0);
  trace->SetContext("one");
  const char* const lent = trace->Context();
  trace->SetContext("two");
  trace->SetContext("three");
  EXPECT_STREQ(lent, "one");
  EXPECT_STREQ(trace->Context(), "three");
}

}  // namespace
}  // namespace nereid
