// SPDX-License-Identifier: Apache-2.0
#include "execution/warmup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "filesystem/fake_file_system.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// An instance that notes each execution as one line: "id:batch size:inputs with shape and bytes"
// per request. Answers with `answer` from another thread: during Execute, or later if `late`.
// Thread-compatible.
class NotingInstance final : public Instance {
 public:
  explicit NotingInstance(absl::Status answer, bool late = false)
      : answer_(std::move(answer)), late_(late) {}
  ~NotingInstance() override { Join(); }

  absl::Status Initialize() override { return absl::OkStatus(); }
  void Finalize() override {}
  Duration Execute(Batch batch) override {
    std::string line;
    for (const RequestPtr& request : batch) line += Describe(*request);
    lines_.push_back(line);
    Join();
    answering_ = std::thread([batch = std::move(batch), answer = answer_]() mutable {
      for (RequestPtr& request : batch) Answer(std::move(request), answer);
    });
    if (!late_) Join();
    return Duration(1);
  }

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  static std::string Describe(InferRequest& request) {
    std::string text = request.id() + ":" + std::to_string(request.batch_size());
    for (const InferInput& input : request.inputs()) {
      text += ":" + input.name() + ShapeToString(input.shape());
      if (!input.buffers().empty()) {
        text += std::string(static_cast<const char*>(input.buffers()[0].base),
                            input.buffers()[0].byte_size);
      }
    }
    return text + ";";
  }
  static void Answer(RequestPtr request, const absl::Status& answer) {
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    request->model()->statistics().AddPending(-1);
    std::shared_ptr<ResponseStream> stream = request->stream();
    request.reset();
    std::unique_ptr<InferResponse> response = stream->NewResponse();
    response->set_status(answer);
    stream->Send(std::move(response), 0).IgnoreError();
    stream->Send(nullptr, kResponseCompleteFinal).IgnoreError();
  }
  void Join() {
    if (answering_.joinable()) answering_.join();
  }

  const absl::Status answer_;
  const bool late_;
  std::vector<std::string> lines_;
  std::thread answering_;
};

class WarmupTest : public ::testing::Test {
 protected:
  // Makes a model with the input A of two bytes and the warm-up `samples`. `max_batch`: its largest
  // batch.
  void Use(std::vector<WarmupSpec> samples, int32_t max_batch = 4) {
    CompiledModel config =
        ModelBuilder("m").MaxBatch(max_batch).Input("A", DataType::kUint8, {2}).Build();
    config.warmup = std::move(samples);
    model_ = std::make_shared<FakeModel>(std::move(config));
  }
  static WarmupSpec Sample(uint32_t batch_size, uint32_t count = 1, const char* input = "A") {
    WarmupSpec sample{"s", batch_size, count, {}};
    sample.inputs.push_back({input, DataType::kUint8, {2}, WarmupData::kFile, "ab"});
    return sample;
  }
  absl::Status Run(Instance* instance) {
    absl::StatusOr<Warmup> warmup = Warmup::Make(model_->config(), fs_, "/m");
    if (!warmup.ok()) return warmup.status();
    absl::Status status = warmup->Run(model_, "m_0", instance);
    EXPECT_EQ(model_->statistics().Snapshot().pending, 0);
    return status;
  }
  void SetUp() override { fs_.WriteFile("/m/warmup/ab", "ab"); }

  FakeFileSystem fs_;
  std::shared_ptr<FakeModel> model_;
};

TEST_F(WarmupTest, EachSampleIsABatchExecutedAsOftenAsAskedFor) {
  Use({Sample(2), Sample(1, 3)});
  NotingInstance instance((absl::OkStatus()));
  EXPECT_EQ(Run(&instance), absl::OkStatus());
  const std::string one = ":1:A[1,2]ab;";
  EXPECT_THAT(instance.lines(), ElementsAre(one + one, one, one, one));
}

TEST_F(WarmupTest, AModelWithoutBatchesGetsTensorsAsTheyAre) {
  Use({Sample(1)}, /*max_batch=*/0);
  NotingInstance instance((absl::OkStatus()));
  EXPECT_EQ(Run(&instance), absl::OkStatus());
  EXPECT_THAT(instance.lines(), ElementsAre(":0:A[2]ab;"));
}

TEST_F(WarmupTest, ControlTensorsComeAfterTheModels) {
  WarmupSpec sample = Sample(1, 1, "A");
  sample.inputs.insert(sample.inputs.begin(),
                       {"A_CONTROL", DataType::kUint8, {1}, WarmupData::kFile, "ab"});
  Use({sample});
  NotingInstance instance((absl::OkStatus()));
  EXPECT_EQ(Run(&instance), absl::OkStatus());
  EXPECT_THAT(instance.lines(), ElementsAre(":1:A[1,2]ab:A_CONTROL[1,1]a;"));
}

TEST_F(WarmupTest, SamplesOfNothingAreLeftOut) {
  Use({Sample(0)});
  EXPECT_TRUE(Warmup::Make(model_->config(), fs_, "/m")->empty());
  Use({});
  EXPECT_TRUE(Warmup::Make(model_->config(), fs_, "/m")->empty());
}

TEST_F(WarmupTest, CountsAreBounded) {
  Use({Sample(65'537)});
  EXPECT_EQ(
      Warmup::Make(model_->config(), fs_, "/m").status(),
      absl::InvalidArgumentError("warmup sample 's' has batch_size 65537, the largest is 65536"));
  Use({Sample(1, 1'000'001)});
  EXPECT_EQ(
      Warmup::Make(model_->config(), fs_, "/m").status(),
      absl::InvalidArgumentError("warmup sample 's' has count 1000001, the largest is 1000000"));
}

TEST_F(WarmupTest, AFailureOfAnyRequestEndsIt) {
  Use({Sample(2, 2), Sample(1)});
  NotingInstance instance(absl::InternalError("An Error Occurred"));
  EXPECT_EQ(Run(&instance),
            absl::InvalidArgumentError("failed to run warmup sample 's': An Error Occurred; An "
                                       "Error Occurred; "));
  EXPECT_EQ(instance.lines().size(), 1u);
}

TEST_F(WarmupTest, AnswersThatComeLaterAreWaitedFor) {
  Use({Sample(3, 50)});
  NotingInstance instance(absl::OkStatus(), /*late=*/true);
  EXPECT_EQ(Run(&instance), absl::OkStatus());
  EXPECT_EQ(instance.lines().size(), 50u);
  NotingInstance failing(absl::InternalError("late"), /*late=*/true);
  Use({Sample(1)});
  EXPECT_EQ(Run(&failing), absl::InvalidArgumentError("failed to run warmup sample 's': late; "));
}

TEST_F(WarmupTest, ASampleThatDoesNotFitTheModel) {
  NotingInstance instance((absl::OkStatus()));
  Use({Sample(1, 1, "B")});
  EXPECT_EQ(Run(&instance), absl::InvalidArgumentError(
                                "[request id: <id_unknown>] expected 1 inputs but got 0 inputs for "
                                "model 'm'. Got input(s) [], but missing required input(s) "
                                "['A']. Please provide all required input(s)."));
  EXPECT_THAT(instance.lines(), IsEmpty());
}

TEST_F(WarmupTest, AModelThatClosesIsNotWarmedUp) {
  Use({Sample(2)});
  model_->lifetime().Close([] {});
  NotingInstance instance((absl::OkStatus()));
  EXPECT_EQ(Run(&instance), absl::UnavailableError("model 'm' is being unloaded"));
  EXPECT_THAT(instance.lines(), IsEmpty());
}

}  // namespace
}  // namespace nereid
