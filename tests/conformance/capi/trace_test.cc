// SPDX-License-Identifier: Apache-2.0
// Traces of an application: the activities reported for a request and for the steps of an ensemble,
// and their order. Every trace is released exactly once, whatever happens to the request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr int kTimes = TRITONSERVER_TRACE_LEVEL_TIMESTAMPS;
constexpr int kTensors = TRITONSERVER_TRACE_LEVEL_TENSORS;

// The information collected about one trace.
struct Told {
  uint64_t id = 0;
  uint64_t parent_id = 0;
  std::string model;
  int64_t version = 0;
  std::string request_id;
  std::string context;
  std::vector<std::string> activities;  // in the order of their calls
  std::vector<uint64_t> times;          // times of the server's own activities
  int releases = 0;
};

// Receives the callbacks of traces. Thread-safe.
class Listener {
 public:
  // The release callback deletes the trace.
  TRITONSERVER_InferenceTrace* NewTrace(int level, uint64_t parent_id = 0) {
    TRITONSERVER_InferenceTrace* trace = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceTensorNew(
        &trace, static_cast<TRITONSERVER_InferenceTraceLevel>(level), parent_id, OnActivity,
        OnTensor, OnRelease, this)));
    return trace;
  }

  // Waits until `count` traces are released.
  std::map<std::string, Told> WaitForModels(size_t count) {
    std::map<std::string, Told> models;
    for (const Told& told : Wait(count)) {
      EXPECT_EQ(models.count(told.model), 0u) << told.model;
      models[told.model] = told;
    }
    return models;
  }
  std::vector<Told> Wait(size_t count) {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [&] { return released_ >= count; });
    EXPECT_EQ(released_, count);
    std::vector<Told> all;
    for (const auto& [id, told] : told_) {
      EXPECT_EQ(told.releases, 1) << "trace " << id << " of " << told.model;
      EXPECT_TRUE(std::is_sorted(told.times.begin(), told.times.end())) << told.model;
      all.push_back(told);
    }
    EXPECT_EQ(all.size(), count);
    return all;
  }

 private:
  static uint64_t IdOf(TRITONSERVER_InferenceTrace* trace) {
    uint64_t id = 0;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceId(trace, &id)));
    return id;
  }

  static void OnActivity(TRITONSERVER_InferenceTrace* trace,
                         TRITONSERVER_InferenceTraceActivity activity, uint64_t time_ns,
                         void* userp) {
    auto* self = static_cast<Listener*>(userp);
    // Callbacks may use this trace and create others.
    TRITONSERVER_InferenceTrace* child = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &child)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceDelete(child)));
    std::lock_guard<std::mutex> lock(self->mu_);
    Told& told = self->told_[IdOf(trace)];
    EXPECT_EQ(told.releases, 0) << "told of a trace that is back";
    told.activities.emplace_back(TRITONSERVER_InferenceTraceActivityString(activity));
    if (activity != TRITONSERVER_TRACE_CUSTOM_ACTIVITY) told.times.push_back(time_ns);
  }

  static void OnTensor(TRITONSERVER_InferenceTrace* trace,
                       TRITONSERVER_InferenceTraceActivity activity, const char* name,
                       TRITONSERVER_DataType datatype, const void* base, size_t byte_size,
                       const int64_t* shape, uint64_t dim_count,
                       TRITONSERVER_MemoryType memory_type, int64_t memory_type_id, void* userp) {
    auto* self = static_cast<Listener*>(userp);
    std::string text = TRITONSERVER_InferenceTraceActivityString(activity);
    text += " " + std::string(name) + " " + TRITONSERVER_DataTypeString(datatype);
    for (uint64_t i = 0; i < dim_count; ++i) text += " " + std::to_string(shape[i]);
    text += ":";
    EXPECT_EQ(byte_size % sizeof(float), 0u);
    for (size_t i = 0; i < byte_size / sizeof(float); ++i) {
      text += " " + std::to_string(static_cast<int>(static_cast<const float*>(base)[i]));
    }
    EXPECT_EQ(memory_type, TRITONSERVER_MEMORY_CPU);
    EXPECT_EQ(memory_type_id, 0);
    std::lock_guard<std::mutex> lock(self->mu_);
    self->told_[IdOf(trace)].activities.push_back(text);
  }

  static void OnRelease(TRITONSERVER_InferenceTrace* trace, void* userp) {
    auto* self = static_cast<Listener*>(userp);
    const char* model = nullptr;
    const char* request_id = nullptr;
    const char* context = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceModelName(trace, &model)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceRequestId(trace, &request_id)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceContext(trace, &context)));
    std::lock_guard<std::mutex> lock(self->mu_);
    Told& told = self->told_[IdOf(trace)];
    told.id = IdOf(trace);
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceParentId(trace, &told.parent_id)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceModelVersion(trace, &told.version)));
    told.model = model;
    told.request_id = request_id;
    told.context = context;
    ++told.releases;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceDelete(trace)));
    ++self->released_;
    self->changed_.notify_all();
  }

  std::mutex mu_;
  std::condition_variable changed_;
  std::map<uint64_t, Told> told_;
  size_t released_ = 0;
};

testing::Matcher<const std::vector<std::string>&> Executed() {
  return ElementsAre("REQUEST_START", "QUEUE_START", "COMPUTE_START", "COMPUTE_INPUT_END",
                     "COMPUTE_OUTPUT_START", "COMPUTE_END", "REQUEST_END");
}

std::string Step(const std::string& model, const std::string& from, const std::string& to) {
  return "step { model_name: \"" + model + "\" model_version: -1\n  input_map { key: \"INPUT0\" " +
         "value: \"" + from + "\" }\n  output_map { key: \"OUTPUT0\" value: \"" + to + "\" }\n}\n";
}

std::string EnsembleConfig(const std::string& steps) {
  return R"(platform: "ensemble"
max_batch_size: 8
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
ensemble_scheduling {
)" + steps +
         "}\n";
}

std::string FloatConfig(const std::string& behaviour, const std::string& more = "") {
  return R"(backend: "testing"
max_batch_size: 8
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
parameters { key: "behaviour" value { string_value: ")" +
         behaviour + "\" } }\n" + more;
}

class TraceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    repository_ = new Repository;
    repository_->AddModel("id", IdentityConfig(), {1, 3});
    repository_->AddModel("batched", IdentityConfig("dynamic_batching { }\n"));
    repository_->AddModel("slow", SlowConfig(50));
    repository_->AddModel("full", SlowConfig(50) +
                                      "dynamic_batching { default_queue_policy { "
                                      "max_queue_size: 1 } }\n");
    repository_->AddModel("throws", FloatConfig("throws"));
    repository_->AddModel("traces", FloatConfig("traces"));
    repository_->AddModel("never", FloatConfig("releases_without_answer"));
    repository_->AddModel("stream", FloatConfig("decoupled",
                                                "model_transaction_policy { decoupled: true }\n"
                                                "parameters { key: \"responses\" value { "
                                                "string_value: \"3\" } }\n"));
    repository_->AddModel("again", FloatConfig("reschedule",
                                               "sequence_batching { iterative_sequence: true }\n"
                                               "parameters { key: \"times\" value { "
                                               "string_value: \"2\" } }\n"));
    repository_->AddModel(
        "chain", EnsembleConfig(Step("id", "INPUT0", "t") + Step("batched", "t", "OUTPUT0")));
    repository_->AddModel(
        "outer", EnsembleConfig(Step("chain", "INPUT0", "t") + Step("traces", "t", "OUTPUT0")));
    repository_->AddModel(
        "broken", EnsembleConfig(Step("throws", "INPUT0", "t") + Step("id", "t", "OUTPUT0")));
    server_ = new TestServer(*repository_);
  }
  static void TearDownTestSuite() {
    delete server_;
    delete repository_;
  }
  static const TestServer& server() { return *server_; }

  std::unique_ptr<Call> NewCall(const std::string& model) {
    auto call = std::make_unique<Call>(server(), model, &allocator_);
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(call->request(), "my id")));
    call->AddFloats("INPUT0", {1, 2}, {1, 2});
    return call;
  }

  // Waits for the call, and deletes its responses, which hold the trace too.
  static void Finish(Call* call) {
    call->Wait();
    call->TakeResponses();
  }

  DiaryAllocator allocator_;
  Listener listener_;

 private:
  static Repository* repository_;
  static TestServer* server_;
};
Repository* TraceTest::repository_ = nullptr;
TestServer* TraceTest::server_ = nullptr;

TEST_F(TraceTest, NamesOfLevelsAndActivities) {
  const std::map<int, const char*> levels = {{0, "DISABLED"},   {1, "MIN"},     {2, "MAX"},
                                             {4, "TIMESTAMPS"}, {8, "TENSORS"}, {12, "<unknown>"}};
  for (const auto& [level, name] : levels) {
    EXPECT_STREQ(TRITONSERVER_InferenceTraceLevelString(
                     static_cast<TRITONSERVER_InferenceTraceLevel>(level)),
                 name);
  }
  const char* const activities[] = {
      "REQUEST_START",        "QUEUE_START",           "COMPUTE_START",   "COMPUTE_INPUT_END",
      "COMPUTE_OUTPUT_START", "COMPUTE_END",           "REQUEST_END",     "TENSOR_QUEUE_INPUT",
      "TENSOR_BACKEND_INPUT", "TENSOR_BACKEND_OUTPUT", "CUSTOM_ACTIVITY", "<unknown>"};
  for (int i = 0; i < 12; ++i) {
    EXPECT_STREQ(TRITONSERVER_InferenceTraceActivityString(
                     static_cast<TRITONSERVER_InferenceTraceActivity>(i)),
                 activities[i]);
  }
}

TEST_F(TraceTest, TellsOfARequestInOrder) {
  for (const char* model : {"id", "batched"}) {
    Listener listener;
    const auto call = NewCall(model);
    ASSERT_TRUE(Ok(call->Issue(listener.NewTrace(TRITONSERVER_TRACE_LEVEL_MAX, 77))));
    EXPECT_EQ(Outputs(call->TakeResponse()).size(), 1u);
    const Told told = listener.Wait(1)[0];
    EXPECT_THAT(told.activities, Executed());
    EXPECT_EQ(told.parent_id, 77u);
    EXPECT_EQ(told.model, model);
    EXPECT_EQ(told.version, told.model == "id" ? 3 : 1);
    EXPECT_EQ(told.request_id, "my id");
    EXPECT_EQ(told.context, "");
  }
}

TEST_F(TraceTest, TellsOfTensors) {
  const auto call = NewCall("id");
  ASSERT_TRUE(Ok(call->Issue(listener_.NewTrace(kTensors | kTimes))));
  Finish(call.get());
  EXPECT_THAT(listener_.Wait(1)[0].activities,
              UnorderedElementsAre("REQUEST_START", "QUEUE_START",
                                   "TENSOR_QUEUE_INPUT INPUT0 FP32 1 2: 1 2",
                                   "TENSOR_BACKEND_INPUT INPUT0 FP32 1 2: 1 2", "COMPUTE_START",
                                   "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END",
                                   "TENSOR_BACKEND_OUTPUT OUTPUT0 FP32 1 2: 1 2", "REQUEST_END"));
}

TEST_F(TraceTest, TellsOnlyWhatTheLevelAsksFor) {
  Call call(server(), "id", &allocator_);
  const std::vector<float> values = {3, 4};
  const int64_t shape[] = {1, 2};
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddInput(call.request(), "INPUT0",
                                                       TRITONSERVER_TYPE_FP32, shape, 2)));
  for (const float& value : values) {
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
        call.request(), "INPUT0", &value, sizeof(value), TRITONSERVER_MEMORY_CPU, 0)));
  }
  ASSERT_TRUE(Ok(call.Issue(listener_.NewTrace(kTensors))));
  Finish(&call);
  EXPECT_THAT(listener_.Wait(1)[0].activities,
              ElementsAre("TENSOR_QUEUE_INPUT INPUT0 FP32 1 2: 3 4",
                          "TENSOR_BACKEND_INPUT INPUT0 FP32 1 2: 3 4",
                          "TENSOR_BACKEND_OUTPUT OUTPUT0 FP32 1 2: 3 4"));
  Listener silent;
  ASSERT_TRUE(Ok(call.Issue(silent.NewTrace(TRITONSERVER_TRACE_LEVEL_DISABLED))));
  Finish(&call);
  EXPECT_THAT(silent.Wait(1)[0].activities, ElementsAre());
}

TEST_F(TraceTest, EachFlightHasItsOwn) {
  const auto call = NewCall("id");
  ASSERT_TRUE(Ok(call->Issue(listener_.NewTrace(kTimes))));
  call->Wait();
  ASSERT_TRUE(Ok(call->Issue()));
  call->Wait();
  ASSERT_TRUE(Ok(call->Issue(listener_.NewTrace(kTimes))));
  Finish(call.get());
  const std::vector<Told> all = listener_.Wait(2);
  EXPECT_THAT(all[0].activities, Executed());
  EXPECT_THAT(all[1].activities, Executed());
  EXPECT_LT(all[0].id, all[1].id);
}

TEST_F(TraceTest, StepsOfAnEnsembleAreChildren) {
  const auto call = NewCall("outer");
  ASSERT_TRUE(Ok(call->Issue(listener_.NewTrace(kTimes | kTensors))));
  Finish(call.get());
  std::map<std::string, Told> all = listener_.WaitForModels(5);
  EXPECT_EQ(all["outer"].parent_id, 0u);
  EXPECT_EQ(all["chain"].parent_id, all["outer"].id);
  EXPECT_EQ(all["traces"].parent_id, all["outer"].id);
  EXPECT_EQ(all["id"].parent_id, all["chain"].id);
  EXPECT_EQ(all["batched"].parent_id, all["chain"].id);
  for (const auto& [model, told] : all) {
    const bool ensemble = model == "outer" || model == "chain";
    const std::vector<std::string>& told_of = told.activities;
    EXPECT_EQ(told_of.front(), "REQUEST_START");
    EXPECT_EQ(std::count(told_of.begin(), told_of.end(), "REQUEST_END"), 1) << model;
    EXPECT_EQ(std::count(told_of.begin(), told_of.end(), "COMPUTE_START"), ensemble ? 0 : 1);
    EXPECT_THAT(told_of, testing::Contains("TENSOR_QUEUE_INPUT INPUT0 FP32 1 2: 1 2")) << model;
    EXPECT_THAT(told_of, testing::Contains("TENSOR_BACKEND_OUTPUT OUTPUT0 FP32 1 2: 1 2")) << model;
    EXPECT_EQ(told.request_id, "my id");
    if (model == "outer") continue;
    EXPECT_GE(told.times.front(), all["outer"].times.front());
    EXPECT_LE(told.times.back(), all["outer"].times.back()) << "a step ends before its request";
  }
  EXPECT_EQ(all["id"].version, 3);
  EXPECT_LE(all["id"].times.front(), all["batched"].times.front());
}

TEST_F(TraceTest, AStepThatFailsEndsAllOfThem) {
  const auto call = NewCall("broken");
  ASSERT_TRUE(Ok(call->Issue(listener_.NewTrace(kTimes))));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceResponseError(call->TakeResponse().get()),
                    TRITONSERVER_ERROR_INTERNAL, "in ensemble 'broken'"));
  std::map<std::string, Told> all = listener_.WaitForModels(2);
  EXPECT_THAT(all["broken"].activities, ElementsAre("REQUEST_START", "QUEUE_START", "REQUEST_END"));
  EXPECT_THAT(all["throws"].activities, ElementsAre("REQUEST_START", "QUEUE_START", "REQUEST_END"));
}

TEST_F(TraceTest, BackendsAddToIt) {
  const auto call = NewCall("traces");
  TRITONSERVER_InferenceTrace* const trace = listener_.NewTrace(kTimes);
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceTraceSetContext(trace, R"({"traceparent":"x"})")));
  const char* context = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceTraceContext(trace, &context)));
  EXPECT_STREQ(context, R"({"traceparent":"x"})");
  ASSERT_TRUE(Ok(call->Issue(trace)));
  Finish(call.get());
  const Told told = listener_.Wait(1)[0];
  const auto custom = std::find(told.activities.begin(), told.activities.end(), "CUSTOM_ACTIVITY");
  ASSERT_NE(custom, told.activities.end());
  EXPECT_EQ(std::count(told.activities.begin(), told.activities.end(), "CUSTOM_ACTIVITY"), 1);
  EXPECT_THAT(told.context,
              AllOf(HasSubstr(R"("traceparent":"x",")"), HasSubstr(R"(":"testing"})")));
  // Without a trace the same calls do nothing.
  ASSERT_TRUE(Ok(call->Issue()));
  EXPECT_EQ(Outputs(call->TakeResponse()).size(), 1u);
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceReportActivity(nullptr, 1, "nothing")));
}

TEST_F(TraceTest, ComesBackAlsoWhenTheRequestIsRefused) {
  // An error before the request is issued: the input is missing.
  Call empty(server(), "id", &allocator_);
  EXPECT_TRUE(Fails(empty.Issue(listener_.NewTrace(kTimes)), TRITONSERVER_ERROR_INVALID_ARG, ""));
  EXPECT_THAT(listener_.Wait(1)[0].activities, ElementsAre());

  // Refused by a queue with room for one request, which fills faster than the model empties it.
  Listener listener;
  std::vector<std::unique_ptr<Call>> calls;
  TRITONSERVER_Error* error = nullptr;
  while (error == nullptr && calls.size() < 1000) {
    calls.push_back(NewCall("full"));
    error = calls.back()->Issue(listener.NewTrace(kTimes));
  }
  EXPECT_TRUE(Fails(error, TRITONSERVER_ERROR_UNAVAILABLE, "Exceeds maximum queue size"));
  for (const auto& call : calls) Finish(call.get());
  const std::vector<Told> all = listener.Wait(calls.size());
  EXPECT_THAT(all.back().activities, ElementsAre("REQUEST_START", "QUEUE_START"));
  for (size_t i = 0; i + 1 < all.size(); ++i) EXPECT_THAT(all[i].activities, Executed());
}

TEST_F(TraceTest, ComesBackWhateverBecomesOfTheRequest) {
  for (const char* model : {"throws", "never"}) {
    Listener listener;
    const auto call = NewCall(model);
    ASSERT_TRUE(Ok(call->Issue(listener.NewTrace(kTimes | kTensors))));
    Finish(call.get());
    const std::vector<std::string> told = listener.Wait(1)[0].activities;
    EXPECT_EQ(told.back(), "REQUEST_END") << model;
    EXPECT_THAT(told, Not(testing::Contains(HasSubstr("TENSOR_BACKEND_OUTPUT")))) << model;
  }

  const auto stream = NewCall("stream");
  Listener listener;
  ASSERT_TRUE(Ok(stream->Issue(listener.NewTrace(kTensors))));
  Finish(stream.get());
  const std::vector<std::string> told = listener.Wait(1)[0].activities;
  EXPECT_EQ(std::count(told.begin(), told.end(), "TENSOR_BACKEND_OUTPUT OUTPUT0 FP32 1 2: 1 2"), 3);
}

TEST_F(TraceTest, ComesBackWhenTheRequestIsCancelled) {
  const auto first = NewCall("slow");
  const auto second = NewCall("slow");
  ASSERT_TRUE(Ok(first->Issue(listener_.NewTrace(kTimes))));
  Listener listener;
  ASSERT_TRUE(Ok(second->Issue(listener.NewTrace(kTimes))));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCancel(second->request())));
  Finish(second.get());
  EXPECT_THAT(listener.Wait(1)[0].activities,
              AnyOf(Executed(), ElementsAre("REQUEST_START", "QUEUE_START", "REQUEST_END")));
  Finish(first.get());
  EXPECT_THAT(listener_.Wait(1)[0].activities, Executed());
}

TEST_F(TraceTest, WaitsInTheQueueOnceMoreWhenItIsRescheduled) {
  const auto call = NewCall("again");
  ASSERT_TRUE(Ok(call->Issue(listener_.NewTrace(kTimes))));
  Finish(call.get());
  EXPECT_THAT(
      listener_.Wait(1)[0].activities,
      ElementsAre("REQUEST_START", "QUEUE_START", "QUEUE_START", "QUEUE_START", "COMPUTE_START",
                  "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END", "REQUEST_END"));
}

TEST_F(TraceTest, AnAnswerFromTheCacheIsNotComputed) {
  Repository repository;
  repository.AddModel("kept", IdentityConfig("response_cache { enable: true }\n"));
  Options options(repository, TRITONSERVER_MODEL_CONTROL_NONE);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheDirectory(options.get(), NEREID_TEST_CACHES)));
  ASSERT_TRUE(Ok(
      TRITONSERVER_ServerOptionsSetCacheConfig(options.get(), "local", R"({"size": "1000000"})")));
  const TestServer server(options);
  for (const bool hit : {false, true}) {
    Listener listener;
    Call call(server, "kept", &allocator_);
    call.AddFloats("INPUT0", {1, 1}, {5});
    ASSERT_TRUE(Ok(call.Issue(listener.NewTrace(kTimes | kTensors))));
    Finish(&call);
    const std::vector<std::string> told = listener.Wait(1)[0].activities;
    EXPECT_EQ(std::count(told.begin(), told.end(), "COMPUTE_START"), hit ? 0 : 1);
    EXPECT_EQ(std::count(told.begin(), told.end(), "TENSOR_BACKEND_OUTPUT OUTPUT0 FP32 1 1: 5"), 1);
    EXPECT_EQ(told.back(), "REQUEST_END");
  }
}

TEST_F(TraceTest, AResponseHoldsIt) {
  const auto call = NewCall("id");
  TRITONSERVER_InferenceTrace* const trace = listener_.NewTrace(kTimes);
  ASSERT_TRUE(Ok(call->Issue(trace)));
  ResponsePtr response = call->TakeResponse();
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceReportActivity(trace, 1, "sent")));
  response.reset();
  const Told told = listener_.Wait(1)[0];
  EXPECT_EQ(told.activities.back(), "CUSTOM_ACTIVITY");
  EXPECT_EQ(told.context, R"({"1":"sent"})");
}

TEST_F(TraceTest, NobodyNeedsToListen) {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceTraceNew(
      &trace, static_cast<TRITONSERVER_InferenceTraceLevel>(kTimes | kTensors), 0, nullptr, nullptr,
      nullptr)));
  const auto call = NewCall("chain");
  ASSERT_TRUE(Ok(call->Issue(trace)));
  EXPECT_EQ(Outputs(call->TakeResponse()).size(), 1u);

  TRITONSERVER_InferenceTrace* child = nullptr;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceSpawnChildTrace(nullptr, &child)));
  EXPECT_EQ(child, nullptr);
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceTraceDelete(nullptr)));
}

}  // namespace
}  // namespace nereid_test
