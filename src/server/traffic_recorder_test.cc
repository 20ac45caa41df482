// SPDX-License-Identifier: Apache-2.0
#include "server/traffic_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/recording_lines.h"
#include "server/recording_model_testing.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Destroying the recorder writes what is left, so no test waits for its thread.
class TrafficRecorderTest : public ::testing::Test {
 protected:
  ~TrafficRecorderTest() override { std::filesystem::remove(options_.file); }

  std::unique_ptr<TrafficRecorder> Open() {
    auto recorder = TrafficRecorder::Open(options_, Clock::Real(), inputs_,
                                          [this] { return std::vector(models_); });
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    return recorder.ok() ? *std::move(recorder) : nullptr;
  }
  std::string Written() const {
    std::ifstream file(options_.file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  size_t LinesWith(const std::string& begin) const {
    std::istringstream text(Written());
    size_t count = 0;
    for (std::string line; std::getline(text, line);) count += line.rfind(begin, 0) == 0;
    return count;
  }

  TrafficRecorderOptions options_ = {
      .file = ::testing::TempDir() + "traffic_recorder_test_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name(),
      .max_bytes = 1 << 20};
  InputRecorder* inputs_ = nullptr;
  const std::shared_ptr<RecordingModel> model_ = std::make_shared<RecordingModel>("m", 1);
  std::vector<std::shared_ptr<const ServingModel>> models_ = {model_};
};

TEST_F(TrafficRecorderTest, WritesModelsRequestsAndExecutions) {
  auto recorder = Open();
  model_->recorder().Record(Flight("a", 100, 1));
  BatchRecord batch;
  batch.number = 1;
  batch.instance = 1;
  batch.requests = 1;
  model_->recorder().Record(batch);
  recorder.reset();
  EXPECT_THAT(Written(), StartsWith("{\"nereid_recording\":1,"));
  EXPECT_THAT(Written(), HasSubstr("\n{\"model\":1,\"name\":\"m\",\"version\":3,"));
  EXPECT_THAT(Written(), HasSubstr("\n{\"request\":1,\"id\":\"a\",\"start\":100,\"queued\":101,"));
  EXPECT_THAT(Written(), HasSubstr("\n{\"batch\":1,\"instance\":1,\"number\":1,"));
}

TEST_F(TrafficRecorderTest, WritesInputs) {
  const KeptInputs inputs{model_.get(),
                          100,
                          {{"a", DataType::kInt8, {1, 3}, true, "abc"},
                           {"secret", DataType::kFp32, {2}, false, ""},
                           {"empty", DataType::kFp32, {0}, true, ""}}};
  EXPECT_EQ(InputsLine(inputs, 7), R"({"inputs":7,"start":100,"tensors":[)"
                                   R"({"name":"a","datatype":"INT8","shape":[1,3],"data":"YWJj"},)"
                                   R"({"name":"secret","datatype":"FP32","shape":[2]},)"
                                   R"({"name":"empty","datatype":"FP32","shape":[0],"data":""}]})"
                                   "\n");
}

TEST_F(TrafficRecorderTest, StopsTheCopiesAtItsEnd) {
  InputRecorder inputs(1, {});
  inputs_ = &inputs;
  options_.max_bytes = 100;
  Open();
  EXPECT_TRUE(inputs.stopped());
}

TEST_F(TrafficRecorderTest, AModelThatIsGoneAtTheEnd) {
  auto recorder = Open();
  recorder->Poll();
  models_.clear();
  model_->recorder().Record(Flight("a", 100, 0));
  recorder.reset();
  EXPECT_EQ(LinesWith("{\"request\":1"), 1u);
}

TEST_F(TrafficRecorderTest, OnlyItsOwnerMayReadTheFile) {
  Open();
  EXPECT_EQ(std::filesystem::status(options_.file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(TrafficRecorderTest, TheFileEndsBeforeTheLineThatIsTooMuch) {
  options_.max_bytes = 400;
  auto recorder = Open();
  for (int i = 0; i < 16; ++i) model_->recorder().Record(Flight("a", 100, 0));
  recorder.reset();
  EXPECT_LE(Written().size(), options_.max_bytes);
  EXPECT_EQ(Written().back(), '\n');
  EXPECT_GT(LinesWith("{\"request\":"), 0u);
  EXPECT_LT(LinesWith("{\"request\":"), 16u);
}

TEST_F(TrafficRecorderTest, ASampleOfTheRequestsIsWritten) {
  options_.sample = 0.5;
  const auto many = std::make_shared<RecordingModel>("m", 1, /*events=*/1024);
  models_ = {many};
  auto recorder = Open();
  for (uint64_t i = 0; i < 1000; ++i) many->recorder().Record(Flight("a", 1000 + i, 0));
  recorder.reset();
  const size_t written = LinesWith("{\"request\":");
  EXPECT_GT(written, 400u);
  EXPECT_LT(written, 600u);
}

TEST_F(TrafficRecorderTest, AFileThatCannotBeWritten) {
  options_.file = "/nonexistent/recording";
  const auto recorder = TrafficRecorder::Open(options_, Clock::Real(), nullptr, [] {
    return std::vector<std::shared_ptr<const ServingModel>>();
  });
  EXPECT_EQ(recorder.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(recorder.status().message()),
              HasSubstr("'/nonexistent/recording' (--record) cannot be written: No such file"));
}

}  // namespace
}  // namespace nereid
