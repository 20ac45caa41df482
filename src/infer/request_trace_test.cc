// SPDX-License-Identifier: Apache-2.0
#include "infer/request_trace.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <new>
#include <string>
#include <vector>

#include "infer/infer_request.h"
#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kAll = kTraceTimestamps | kTraceTensors;

class Diary final : public TraceReceiver {
 public:
  void OnActivity(InferenceTrace* trace, TraceActivity activity, uint64_t time_ns) override {
    EXPECT_GE(time_ns, last_ns_);
    last_ns_ = time_ns;
    entries.push_back(absl::StrCat(trace->model_name(), " ", static_cast<int>(activity)));
  }
  void OnTensor(InferenceTrace*, TraceActivity activity, const TraceTensor& tensor) override {
    entries.push_back(
        absl::StrCat(static_cast<int>(activity), " ", tensor.name, " ",
                     DataTypeName(tensor.data_type), "[", absl::StrJoin(tensor.shape, ","), "] ",
                     absl::string_view(static_cast<const char*>(tensor.base), tensor.byte_size)));
  }
  void OnBatch(InferenceTrace*, const TraceBatch& told) override {
    batch = told;
    traces_of_batch = told.traces.size();
  }
  void OnError(InferenceTrace* trace, absl::string_view message) override {
    entries.push_back(absl::StrCat(trace->model_name(), " ", message));
  }
  void OnRelease(std::unique_ptr<InferenceTrace>) override { entries.push_back("release"); }
  bool TakesGpuMemory() const override { return true; }

  TraceBatch batch;
  size_t traces_of_batch = 0;
  std::vector<std::string> entries;

 private:
  uint64_t last_ns_ = 0;
};

class RequestTraceTest : public ::testing::Test {
 protected:
  RequestTraceTest() {
    model_->on_enqueue = [this](RequestPtr* request) {
      if (!refuse_.ok()) return refuse_;
      queued_ = std::move(*request);
      return absl::OkStatus();
    };
    request_.Input("in", DataType::kInt8, {2, 2}, "abcd");
  }

  absl::Status Issue() {
    request_->set_trace(HoldTrace(std::make_unique<InferenceTrace>(kAll, 0, diary_)));
    EXPECT_TRUE(request_->lifecycle().MoveTo(RequestState::kInitialized, "").ok());
    return IssueRequest(ModelPass::Enter(model_), request_.get(), ToNanos(Clock::Real()->Now()));
  }
  std::unique_ptr<InferResponse> Response(ResponseStream* stream) {
    std::unique_ptr<InferResponse> response = stream->NewResponse();
    absl::StatusOr<ResponseOutput*> output =
        response->AddOutput("out", DataType::kInt8, std::vector<int64_t>{2, 1});
    EXPECT_TRUE(output.ok());
    EXPECT_TRUE((*output)->Allocate(2, MemoryPlace{}).ok());
    static_cast<char*>((*output)->buffer().base)[0] = 'x';
    static_cast<char*>((*output)->buffer().base)[1] = 'y';
    return response;
  }

  const std::shared_ptr<Diary> diary_ = std::make_shared<Diary>();
  // Clients see "in" with dims [2], the backend with [1,2].
  static InputSpec Reshaped() {
    InputSpec spec;
    spec.name = "in";
    spec.data_type = DataType::kInt8;
    spec.dims = {2};
    spec.reshape = Shape{1, 2};
    return spec;
  }
  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(
      ModelBuilder("m").MaxBatch(4).Input(Reshaped()).Output("out", DataType::kInt8, {1}));
  TestRequest request_{model_};
  RequestPtr queued_;
  absl::Status refuse_;
};

TEST_F(RequestTraceTest, TellsOfAFlightFromItsStartToItsEnd) {
  ASSERT_TRUE(Issue().ok());
  EXPECT_THAT(diary_->entries, ElementsAre("m 0", "m 1", "7 in INT8[2,2] abcd"));
  EXPECT_GT(queued_->queue_start_ns(), 0u);
  diary_->entries.clear();

  InferInput control("control", DataType::kInt8, {});
  control.set_shape({2, 1});
  control.AppendBuffer({"u", 1, MemoryPlace{}});
  control.AppendBuffer({"v", 1, MemoryPlace{}});
  queued_->AddOverrideInput(std::move(control));
  TestRequest other(model_);  // without a trace
  std::array<RequestPtr, 2> batch = {std::move(queued_), RequestPtr(other.get())};
  TraceLent(batch);
  queued_ = std::move(batch[0]);
  (void)batch[1].release();
  EXPECT_NE(diary_->batch.id, 0u);
  EXPECT_EQ(diary_->batch.requests, 2u);
  EXPECT_EQ(diary_->traces_of_batch, 1u);
  EXPECT_THAT(diary_->entries, ElementsAre("8 in INT8[2,1,2] abcd", "8 control INT8[2,1] uv"));
  diary_->entries.clear();

  std::shared_ptr<ResponseStream> stream = queued_->stream();
  ASSERT_TRUE(stream->Send(Response(stream.get()), kResponseCompleteFinal).ok());
  EXPECT_THAT(diary_->entries, ElementsAre("9 out INT8[2,1] xy"));
  diary_->entries.clear();

  queued_.reset();
  EXPECT_EQ(request_.releases(), 1);
  EXPECT_EQ(request_->trace(), nullptr);
  EXPECT_THAT(diary_->entries, ElementsAre("m 6")) << "the way back still holds it";
  stream.reset();
  EXPECT_THAT(diary_->entries, ElementsAre("m 6")) << "the response still holds it";
  request_.answer(0).response.reset();
  EXPECT_THAT(diary_->entries, ElementsAre("m 6", "release"));
}

TEST_F(RequestTraceTest, AnErrorHasNoTensors) {
  ASSERT_TRUE(Issue().ok());
  diary_->entries.clear();
  queued_->RespondError(absl::InternalError("no"), FailureReason::kBackend);
  queued_.reset();
  request_.answer(0).response.reset();
  EXPECT_THAT(diary_->entries, ElementsAre("m no", "m 6", "release"));
}

TEST_F(RequestTraceTest, PiecesOfADeviceAreToldWithoutBytes) {
  ASSERT_TRUE(Issue().ok());
  diary_->entries.clear();
  InferInput far("far", DataType::kInt8, {});
  far.set_shape({2});
  far.AppendBuffer({"u", 1, MemoryPlace{MemoryType::kGpu, 0}});
  far.AppendBuffer({"v", 1, MemoryPlace{MemoryType::kGpu, 0}});
  queued_->AddOverrideInput(std::move(far));
  TraceLent({&queued_, 1});
  EXPECT_EQ(diary_->entries.back(), "8 far INT8[2] ");
  queued_->RespondError(absl::InternalError("no"), FailureReason::kBackend);
  queued_.reset();
}

TEST_F(RequestTraceTest, StaysWithTheCallerOnAnError) {
  refuse_ = absl::UnavailableError("full");
  EXPECT_EQ(Issue(), refuse_);
  EXPECT_THAT(diary_->entries, ElementsAre("m 0", "m 1", "7 in INT8[2,2] abcd"));
  diary_->entries.clear();
  TracePtr trace = request_->TakeTrace();
  ASSERT_NE(trace, nullptr);
  trace.reset();
  EXPECT_THAT(diary_->entries, ElementsAre("release"));
}

TEST_F(RequestTraceTest, AnExceptionAfterTheRequestWasQueuedIsLoggedWithItsId) {
  model_->on_enqueue = [this](RequestPtr* request) -> absl::Status {
    queued_ = std::move(*request);
    throw std::bad_alloc();
  };
  request_->set_id("mine");
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(Issue().ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("[request id: mine] model 'm': an exception after"));
  queued_->RespondError(absl::InternalError("no"), FailureReason::kBackend);
  queued_.reset();
}

// Its id is gone with it; the line tells the model.
TEST_F(RequestTraceTest, AnExceptionAfterTheRequestHasEnded) {
  model_->on_enqueue = [this](RequestPtr* request) -> absl::Status {
    queued_ = std::move(*request);
    queued_->RespondError(absl::InternalError("no"), FailureReason::kBackend);
    queued_.reset();
    throw std::bad_alloc();
  };
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(Issue().ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("model 'm': an exception after a request was queued"));
}

TEST_F(RequestTraceTest, ARequestThatIsNotValidHasNotBegun) {
  ASSERT_TRUE(request_->RemoveInput("in").ok());
  EXPECT_FALSE(Issue().ok());
  EXPECT_THAT(diary_->entries, ElementsAre());
  request_->TakeTrace().reset();
  EXPECT_THAT(diary_->entries, ElementsAre("release"));
}

}  // namespace
}  // namespace nereid
