// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/loaded_model.h"

#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "infer/testing/test_request.h"
#include "lifecycle/catalogue/model_directory.h"
#include "lifecycle/testing/fake_repository.h"
#include "observe/metrics/model_metrics.h"

namespace nereid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A flag that threads can wait for. Thread-safe.
class Signal {
 public:
  void Set() {
    MutexLock lock(&mu_);
    set_ = true;
    changed_.NotifyAll();
  }
  void Await() {
    MutexLock lock(&mu_);
    while (!set_) changed_.Wait(&mu_);
  }
  bool IsSet() const {
    MutexLock lock(&mu_);
    return set_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  bool set_ ABSL_GUARDED_BY(mu_) = false;
};

class LoadedModelTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<LoadedModel>> Load(const std::string& name,
                                                    const std::string& more = "") {
    repository_.Write(name, {1}, more);
    ConfigSource source;
    source.model_dir = "/models/" + name;
    source.expected_name = name;
    auto config = LoadModelConfig(repository_.fs, source);
    EXPECT_TRUE(config.ok()) << config.status();
    LoadContext context = repository_.Context();
    context.readiness = readiness_.get();
    return LoadedModel::Load(context, *config, source.model_dir, 1);
  }

  void Close(const std::shared_ptr<LoadedModel>& model) {
    Signal closed;
    model->Close(model->PrepareClose(&reaper_, [&closed] { closed.Set(); }));
    closed.Await();
  }

  static std::string Metrics(const LoadedModel& model) {
    ModelMetrics page;
    page.BeginVersion(model.config().name, model.config().version);
    model.DescribeMetrics(&page);
    return page.Text();
  }

  FakeRepository repository_;
  Reaper reaper_;
  std::unique_ptr<ReadinessChecker> readiness_;  // null: off
};

TEST_F(LoadedModelTest, ServesFromItsLoadToItsClose) {
  auto loaded = Load("m");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::shared_ptr<LoadedModel> model = *std::move(loaded);
  EXPECT_EQ(model->config().name, "m");
  EXPECT_EQ(model->config().version, 1);
  EXPECT_TRUE(model->AdmissionOpen());
  EXPECT_TRUE(model->CheckReady().ok());
  TestRequest request(model);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(model->Enqueue(&owned).ok());
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
  Close(model);
  EXPECT_FALSE(model->AdmissionOpen());
  EXPECT_EQ(model->CheckReady(), absl::UnavailableError("model 'm' is being unloaded"));
  EXPECT_TRUE(model->memory().empty());
}

TEST_F(LoadedModelTest, EverythingIsFinalisedInReverse) {
  auto model = *Load("m", "instance_group { kind: KIND_CPU count: 1 }");
  Close(model);
  EXPECT_THAT(repository_.backend.Journal(),
              ElementsAre("initialize", "model_initialize m", "instance_initialize m_0_0",
                          "instance_finalize m_0_0", "model_finalize m"));
}

TEST_F(LoadedModelTest, ABackendsPreferredInstancesAreMade) {
  auto model = *Load("m");
  EXPECT_EQ(model->config().instances.size(), 2u);
  Close(model);
}

TEST_F(LoadedModelTest, ARefusedModelIsTheBackendsError) {
  EXPECT_EQ(Load("refused").status(), absl::InternalError("the fake backend refuses this model"));
}

TEST_F(LoadedModelTest, ARefusedInstanceTakesTheOthersAndTheModelAlong) {
  EXPECT_EQ(Load("instance_refused").status(),
            absl::InternalError("the fake backend refuses this instance"));
  EXPECT_THAT(
      repository_.backend.Journal(),
      ElementsAre("initialize", "model_initialize instance_refused",
                  "instance_initialize instance_refused_0",
                  "instance_initialize instance_refused_1", "instance_finalize instance_refused_0",
                  "model_finalize instance_refused"));
}

TEST_F(LoadedModelTest, AModelThatIsNotReadySaysSo) {
  auto model = *Load("not_ready");
  EXPECT_EQ(model->CheckReady(), absl::InternalError("the fake backend is not ready"));
  Close(model);
}

TEST_F(LoadedModelTest, TheKnownAnswerIsThatOfTheBackend) {
  readiness_ = std::make_unique<ReadinessChecker>(&repository_.clock);
  auto unready = *Load("not_ready");
  EXPECT_EQ(unready->KnownReady(), absl::InternalError("the fake backend is not ready"));
  auto ready = *Load("m");
  EXPECT_TRUE(ready->KnownReady().ok());
  ready->CloseAdmission();
  EXPECT_EQ(ready->KnownReady(), absl::UnavailableError("model 'm' is being unloaded"));
  Close(ready);
  Close(unready);
}

TEST_F(LoadedModelTest, CloseWaitsForTheLastRequest) {
  auto model = *Load("holds");
  TestRequest request(model);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(model->Enqueue(&owned).ok());
  repository_.backend.AwaitHeld(1);
  Signal closed;
  model->Close(model->PrepareClose(&reaper_, [&closed] { closed.Set(); }));
  EXPECT_FALSE(closed.IsSet());
  EXPECT_THAT(repository_.backend.Journal(), Not(Contains("model_finalize holds")));
  repository_.backend.LetGo();
  closed.Await();
  EXPECT_TRUE(request.final_status().ok());
  EXPECT_THAT(repository_.backend.Journal(), Contains("model_finalize holds"));
}

TEST_F(LoadedModelTest, ClosedAdmissionRefusesNewRequests) {
  auto model = *Load("m");
  model->CloseAdmission();
  TestRequest request(model);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  EXPECT_EQ(model->Enqueue(&owned).code(), absl::StatusCode::kUnavailable);
  request.TakeBack(std::move(owned));
  Close(model);
}

TEST_F(LoadedModelTest, SequencesGoOnUntilTheyEnd) {
  auto model = *Load("m", "sequence_batching { } instance_group { kind: KIND_CPU count: 1 }");
  std::deque<TestRequest> requests;
  const auto send = [&](uint64_t sequence, uint32_t flags) {
    TestRequest& request = requests.emplace_back(model);
    request->set_correlation_id(CorrelationId(sequence));
    request->set_flags(flags);
    request.Input("in", DataType::kInt8, {1});
    RequestPtr owned = request.Issue();
    const absl::Status status = model->Enqueue(&owned);
    if (!status.ok()) {
      request.TakeBack(std::move(owned));
      return status;
    }
    request.WaitDone();
    return request.final_status();
  };
  EXPECT_EQ(send(1, kRequestFlagSequenceStart), absl::OkStatus());
  EXPECT_TRUE(model->HasSequence(CorrelationId(1)));
  EXPECT_FALSE(model->HasSequence(CorrelationId(2)));
  EXPECT_EQ(model->InFlight(), 1);
  model->CloseAdmission();
  EXPECT_EQ(send(2, kRequestFlagSequenceStart).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(send(1, 0), absl::OkStatus());
  // With admission and lifetime closed, the model stays until its sequences have ended.
  Signal closed;
  model->Close(model->PrepareClose(&reaper_, [&closed] { closed.Set(); }));
  EXPECT_FALSE(closed.IsSet());
  ModelDirectory directory;
  directory.models["m"].draining.push_back(model);
  EXPECT_EQ(directory.FindSequence("m", -1, CorrelationId(1)), model);
  EXPECT_EQ(directory.FindSequence("m", 1, CorrelationId(1)), model);
  EXPECT_EQ(directory.FindSequence("m", 2, CorrelationId(1)), nullptr);
  EXPECT_EQ(directory.FindSequence("m", -1, CorrelationId(2)), nullptr);
  EXPECT_EQ(directory.FindSequence("other", -1, CorrelationId(1)), nullptr);
  TestRequest last(model);
  last->set_correlation_id(CorrelationId(1));
  last->set_flags(kRequestFlagSequenceEnd);
  last.Input("in", DataType::kInt8, {1});
  RequestPtr owned = last.IssueInside(ModelPass::Join(model));
  EXPECT_EQ(model->Enqueue(&owned), absl::OkStatus());
  last.WaitDone();
  closed.Await();
  EXPECT_EQ(model->InFlight(), 0);
}

TEST_F(LoadedModelTest, WhoeverKeepsAClosedModelKeepsNoBackend) {
  auto model = *Load("m");
  Close(model);
  repository_.backend.Forget();
  repository_.backends.reset();
  EXPECT_THAT(repository_.backend.Journal(), ElementsAre("finalize"));
}

TEST_F(LoadedModelTest, TheInlineParameterIsTrueOrFalse) {
  const auto parameter = [](const std::string& value) {
    return "parameters { key: 'nereid.inline_execution' value: { string_value: '" + value + "' } }";
  };
  EXPECT_EQ(Load("m", parameter("maybe")).status().message(),
            "parameter 'nereid.inline_execution' of model 'm' is 'maybe'; it must be 'true' or "
            "'false'");
  auto model = *Load("m", parameter("true"));
  Close(model);
}

TEST_F(LoadedModelTest, ALatencyTargetIsCheckedAndSwitchesAdaptiveBatchingOn) {
  constexpr char kTarget[] =
      "parameters { key: 'nereid.target_p99_us' value: { string_value: '5000' } }";
  EXPECT_EQ(Load("m", kTarget).status().message(),
            "parameter 'nereid.target_p99_us' of model 'm' needs dynamic_batching and a "
            "max_batch_size of 2 or more");
  auto plain = *Load("m");
  EXPECT_THAT(Metrics(*plain), Not(HasSubstr("nereid_adaptive")));
  Close(plain);
}

// ---- Metrics

std::vector<std::string> Families(const std::string& page) {
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(page, '\n')) {
    if (absl::ConsumePrefix(&line, "# TYPE ")) {
      names.emplace_back(line.substr(0, line.find(' ')));
    }
  }
  return names;
}

TEST_F(LoadedModelTest, AModelReportsTheseMetricsInThisOrder) {
  auto model = *Load("m",
                     "max_batch_size: 4 dynamic_batching { } parameters { key: "
                     "'nereid.target_p99_us' value: { string_value: '5000' } }");
  EXPECT_THAT(
      Families(Metrics(*model)),
      ElementsAre("nv_inference_request_success", "nv_inference_request_failure",
                  "nv_inference_count", "nv_inference_exec_count",
                  "nv_inference_pending_request_count", "nv_inference_request_duration_us",
                  "nv_inference_queue_duration_us", "nv_inference_compute_input_duration_us",
                  "nv_inference_compute_infer_duration_us",
                  "nv_inference_compute_output_duration_us", "nereid_request_duration_seconds",
                  "nereid_queue_duration_seconds", "nereid_compute_duration_seconds",
                  "nereid_inline_execution_count", "nereid_instance_count",
                  "nereid_instance_busy_seconds_total", "nereid_instance_utilization",
                  "nereid_model_requests", "nv_model_load_duration_secs", "nereid_target_pressure",
                  "nereid_target_missed_count", "nereid_adaptive_batch_delay_us",
                  "nereid_adaptive_batch_size"));
  Close(model);
}

TEST_F(LoadedModelTest, AModelOfSequencesReportsThatNoIoThreadExecutesIt) {
  auto model = *Load("m", "sequence_batching { }");
  EXPECT_THAT(Metrics(*model),
              HasSubstr("nereid_inline_execution_count{model=\"m\",version=\"1\"} 0\n"));
  Close(model);
}

// ---- Instances

constexpr char kWarmup[] = R"(model_warmup { name: "s" batch_size: 1 count: 2 inputs {
                                key: "in" value { data_type: TYPE_INT8 dims: [ 1 ]
                                                  zero_data: true } } })";

TEST_F(LoadedModelTest, AModelIsWarmBeforeItServes) {
  auto model = *Load("m", kWarmup);
  // The executions of the warm-up leave nothing in the counts of requests.
  EXPECT_EQ(model->statistics().Snapshot().pending, 0);
  EXPECT_EQ(model->lifetime().inside(), 0);
  Close(model);
}

TEST_F(LoadedModelTest, AFailedWarmupFailsTheLoadAndFinalisesTheModel) {
  EXPECT_EQ(
      Load("execute_error", kWarmup).status(),
      absl::InvalidArgumentError("failed to run warmup sample 's': the fake backend failed; "));
  EXPECT_THAT(repository_.backend.Journal(),
              ElementsAre("initialize", "model_initialize execute_error",
                          "instance_initialize execute_error_0",
                          "instance_finalize execute_error_0", "model_finalize execute_error"));
}

TEST_F(LoadedModelTest, AWarmupThatCannotBeFailsTheLoad) {
  EXPECT_EQ(
      Load("m", R"(model_warmup { name: "s" batch_size: 1 inputs {
                           key: "in" value { data_type: TYPE_INT8 dims: [ 1 ] } } })")
          .status()
          .message(),
      "[request id: <id_unknown>] warmup setting expects input 'in' to have input_data_type set");
}

void Serves(const std::shared_ptr<LoadedModel>& model) {
  TestRequest request(model);
  request.Input("in", DataType::kInt8, {1});
  RequestPtr owned = request.Issue();
  ASSERT_TRUE(model->Enqueue(&owned).ok());
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok());
}

TEST_F(LoadedModelTest, PassiveInstancesAreMadeAndGetNoWork) {
  auto model = *Load("m",
                     "instance_group { kind: KIND_CPU count: 1 passive: true } "
                     "instance_group { kind: KIND_CPU count: 1 }" +
                         std::string(kWarmup));
  EXPECT_THAT(repository_.backend.Journal(), Contains("instance_initialize m_0_0"));
  for (int i = 0; i < 10; ++i) Serves(model);
  Close(model);
  EXPECT_THAT(repository_.backend.Journal(), Contains("instance_finalize m_0_0"));
  EXPECT_EQ(Load("n", "instance_group { kind: KIND_CPU passive: true }").status(),
            absl::InvalidArgumentError("model 'n' has no instance that takes requests: all are "
                                       "passive"));
}

TEST_F(LoadedModelTest, ResourcesAreTheModelsUntilItCloses) {
  repository_.rate_limiter = std::make_unique<RateLimiter>(ResourceLimits{{"R", {{-1, 1}}}});
  const std::string group =
      "instance_group { kind: KIND_CPU count: 2 rate_limiter { resources { "
      "name: 'R' global: ";
  auto model = *Load("m", group + "true count: 1 } } }");
  Serves(model);
  Serves(model);
  const std::string other = group + "false count: 1 } } }";
  EXPECT_EQ(Load("n", other).status().message(),
            "Resource \"R\" is present as both global and device-specific resource in the model "
            "configuration.");
  Close(model);
  EXPECT_EQ(Load("n", group + "false count: 2 } } }").status().message(),
            "Resource count for \"R\" is limited to 1 which will prevent scheduling of one or more "
            "model instances, the minimum required count is 2");
  auto next = *Load("n", other);
  Serves(next);
  Close(next);
}

TEST_F(LoadedModelTest, AHostPolicyThatTheMachineCannotFollowFailsTheLoad) {
  repository_.host_policies = {{"p", {{"cpu-cores", "1023"}}}, {"model", {{"cpu-cores", "x"}}}};
  EXPECT_THAT(
      std::string(
          Load("m", "instance_group { kind: KIND_CPU host_policy: 'p' }").status().message()),
      HasSubstr("Unable to set NUMA thread affinity"));
  EXPECT_THAT(std::string(Load("m", "instance_group { kind: KIND_MODEL }").status().message()),
              HasSubstr("host policy setting 'cpu-cores' format is"));
  auto model = *Load("m", "instance_group { kind: KIND_CPU }");
  Serves(model);
  Close(model);
}

// ---- Labels

constexpr char kLabelled[] = R"(output { name: "class" data_type: TYPE_FP32 dims: [ 3 ]
                                         label_filename: "labels.txt" })";

TEST_F(LoadedModelTest, LabelsAreTheLinesOfTheirFile) {
  repository_.fs.WriteFile("/models/m/labels.txt", "cat\r\n\ndog\n");
  auto model = *Load("m", kLabelled);
  EXPECT_STREQ(model->Label("class", 0), "cat");
  EXPECT_STREQ(model->Label("class", 1), "");
  EXPECT_STREQ(model->Label("class", 2), "dog");
  EXPECT_EQ(model->Label("class", 3), nullptr);
  EXPECT_EQ(model->Label("out", 0), nullptr);
  Close(model);
}

TEST_F(LoadedModelTest, MissingLabelsFailTheLoad) {
  const absl::Status status = Load("m", kLabelled).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("labels of output 'class' of model 'm': "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/models/m/labels.txt"));
}

}  // namespace
}  // namespace nereid
