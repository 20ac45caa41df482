// SPDX-License-Identifier: Apache-2.0
// Inference through the C API on models of the identity backend: the outputs equal the inputs,
// memory and ownership follow the contract, and errors describe the problem.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two outputs, no batching; BYTES beside numbers.
constexpr char kPairConfig[] = R"(backend: "identity"
input { name: "INPUT0" data_type: TYPE_INT32 dims: [ 2 ] }
input { name: "INPUT1" data_type: TYPE_STRING dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 2 ] label_filename: "labels.txt" }
output { name: "OUTPUT1" data_type: TYPE_STRING dims: [ -1 ] }
)";
// Asks where its output will be.
constexpr char kPropertiesConfig[] = R"(backend: "testing"
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
parameters { key: "behaviour" value { string_value: "output_properties" } }
)";
const std::string kTwoInts("\1\0\0\0\2\0\0\0", 8);
const std::string kOneText("\3\0\0\0abc", 7);

// One server for all tests of this file, which do not affect each other.
class InferTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    repository_ = new Repository;
    repository_->AddModel("id", IdentityConfig("version_policy { all { } }\n"), {1, 3});
    repository_->AddModel("batched",
                          IdentityConfig("dynamic_batching { }\n"
                                         "instance_group { count: 2 kind: KIND_CPU }\n"));
    repository_->AddModel("slow", SlowConfig(50));
    repository_->AddModel("properties", kPropertiesConfig);
    repository_->AddModel("pair", kPairConfig);
    repository_->AddFile("pair/labels.txt", "zero\none\n");
    server_ = new TestServer(*repository_);
  }
  static void TearDownTestSuite() {
    delete server_;
    delete repository_;
  }

  static const TestServer& server() { return *server_; }
  // A ready-made call of the model `pair`.
  static std::unique_ptr<Call> PairCall(DiaryAllocator* allocator) {
    auto call = std::make_unique<Call>(server(), "pair", allocator);
    call->AddInput("INPUT0", TRITONSERVER_TYPE_INT32, {2}, kTwoInts);
    call->AddInput("INPUT1", TRITONSERVER_TYPE_BYTES, {1}, kOneText);
    return call;
  }

  DiaryAllocator allocator_;

 private:
  static Repository* repository_;
  static TestServer* server_;
};
Repository* InferTest::repository_ = nullptr;
TestServer* InferTest::server_ = nullptr;

// What the query function of an allocator says reaches the backend.
TEST_F(InferTest, ABackendIsToldWhereItsOutputsWillBe) {
  const auto ask = [&](TRITONSERVER_ResponseAllocatorQueryFn_t query) {
    if (query != nullptr) {
      EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorSetQueryFunction(allocator_.get(), query)));
    }
    Call call(server(), "properties", &allocator_);
    call.AddFloats("INPUT0", {2}, {1, 2});
    EXPECT_TRUE(Ok(call.Issue()));
    const ResponsePtr response = call.TakeResponse();
    TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response.get());
    std::string text = error == nullptr ? "" : TRITONSERVER_ErrorMessage(error);
    TRITONSERVER_ErrorDelete(error);
    return text;
  };
  EXPECT_THAT(ask(nullptr), HasSubstr("Output properties are not available"))
      << "the allocator has no query function";
  EXPECT_EQ(ask([](TRITONSERVER_ResponseAllocator*, void*, const char* name, size_t* byte_size,
                   TRITONSERVER_MemoryType* type, int64_t* id) -> TRITONSERVER_Error* {
              EXPECT_STREQ(name, "OUTPUT0");
              EXPECT_EQ(*byte_size, 8u);
              EXPECT_EQ(*type, TRITONSERVER_MEMORY_GPU);
              *type = TRITONSERVER_MEMORY_CPU;
              *id = 0;
              return nullptr;
            }),
            "");
  EXPECT_THAT(ask([](TRITONSERVER_ResponseAllocator*, void*, const char*, size_t*,
                     TRITONSERVER_MemoryType* type, int64_t* id) -> TRITONSERVER_Error* {
                *type = TRITONSERVER_MEMORY_CPU_PINNED;
                *id = 3;
                return nullptr;
              }),
              HasSubstr("'OUTPUT0' of 8 bytes will be in CPU_PINNED 3"));
}

TEST_F(InferTest, AnswersWithWhatWasAsked) {
  Call call(server(), "id", &allocator_);
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(call.request(), "a name")));
  call.AddFloats("INPUT0", {2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr response = call.TakeResponse();
  const std::vector<Output> outputs = Outputs(response);

  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "OUTPUT0");
  EXPECT_THAT(outputs[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(Floats(outputs[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(outputs[0].memory_type, TRITONSERVER_MEMORY_CPU);
  EXPECT_NE(outputs[0].userp, nullptr);

  const char* text = nullptr;
  int64_t version = 0;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseModel(response.get(), &text, &version)));
  EXPECT_STREQ(text, "id");
  EXPECT_EQ(version, 3) << "the newest one";
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseId(response.get(), &text)));
  EXPECT_STREQ(text, "a name");
  uint32_t parameters = 9;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseParameterCount(response.get(), &parameters)));
  EXPECT_EQ(parameters, 0u);
}

TEST_F(InferTest, AsksForAVersion) {
  DiaryAllocator allocator(DiaryAllocator::kPlain);
  Call call(server(), "id", &allocator, 1);
  call.AddFloats("INPUT0", {1, 1}, {7});
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr response = call.TakeResponse();
  const char* name = nullptr;
  int64_t version = 0;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseModel(response.get(), &name, &version)));
  EXPECT_EQ(version, 1);
}

TEST_F(InferTest, GivesAllOutputsOrThoseAskedFor) {
  const auto all = PairCall(&allocator_);
  ASSERT_TRUE(Ok(all->Issue()));
  ResponsePtr response = all->TakeResponse();
  std::vector<Output> outputs = Outputs(response);
  ASSERT_EQ(outputs.size(), 2u);
  for (const Output& output : outputs) {
    EXPECT_EQ(output.bytes, output.name == "OUTPUT0" ? kTwoInts : kOneText);
  }

  const auto one = PairCall(&allocator_);
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(one->request(), "OUTPUT0")));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(one->request(), "OUTPUT1")));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestAddRequestedOutput(one->request(), "OUTPUT0"),
                    TRITONSERVER_ERROR_INVALID_ARG, "output 'OUTPUT0' already exists in request"));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveRequestedOutput(one->request(), "OUTPUT0")));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveRequestedOutput(one->request(), "nothing")));
  ASSERT_TRUE(Ok(one->Issue()));
  outputs = Outputs(response = one->TakeResponse());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "OUTPUT1");
  EXPECT_EQ(outputs[0].type, TRITONSERVER_TYPE_BYTES);
}

TEST_F(InferTest, KnowsLabelsAndBoundsOfAResponse) {
  const auto call = PairCall(&allocator_);
  ASSERT_TRUE(Ok(call->Issue()));
  const ResponsePtr response = call->TakeResponse();
  const std::vector<Output> outputs = Outputs(response);
  ASSERT_EQ(outputs.size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    const bool has_labels = outputs[i].name == "OUTPUT0";
    const char* label = "";
    ASSERT_TRUE(
        Ok(TRITONSERVER_InferenceResponseOutputClassificationLabel(response.get(), i, 1, &label)));
    EXPECT_STREQ(label, has_labels ? "one" : nullptr);
    ASSERT_TRUE(
        Ok(TRITONSERVER_InferenceResponseOutputClassificationLabel(response.get(), i, 2, &label)));
    EXPECT_EQ(label, nullptr);
  }
  const char* text = nullptr;
  EXPECT_TRUE(
      Fails(TRITONSERVER_InferenceResponseOutputClassificationLabel(response.get(), 2, 0, &text),
            TRITONSERVER_ERROR_INVALID_ARG, "out of bounds index 2: response has 2 outputs"));
  TRITONSERVER_ParameterType type;
  const void* value = nullptr;
  EXPECT_TRUE(
      Fails(TRITONSERVER_InferenceResponseParameter(response.get(), 0, &text, &type, &value),
            TRITONSERVER_ERROR_INVALID_ARG, "out of bounds index 0: response has 0 parameters"));
}

TEST_F(InferTest, ManyInFlightFromSeveralThreads) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 100;
  std::atomic<int> right{0};
  const auto run = [&](int thread) {
    std::vector<std::unique_ptr<Call>> calls;
    for (int i = 0; i < kCalls; ++i) {
      calls.push_back(std::make_unique<Call>(server(), "batched", &allocator_));
      const float value = static_cast<float>(thread * kCalls + i);
      calls.back()->AddFloats("INPUT0", {1, 2}, {value, -value});
      EXPECT_TRUE(Ok(calls.back()->Issue()));
    }
    for (int i = 0; i < kCalls; ++i) {
      const ResponsePtr response = calls[i]->TakeResponse();
      const std::vector<Output> outputs = Outputs(response);
      const float value = static_cast<float>(thread * kCalls + i);
      if (outputs.size() == 1 && Floats(outputs[0]) == std::vector<float>{value, -value}) ++right;
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(run, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kCalls);
  EXPECT_THAT(server().Statistics("batched"), HasSubstr("\"inference_count\":400"));
}

TEST_F(InferTest, AllocatorIsCalledInOrder) {
  const auto call = PairCall(&allocator_);
  ASSERT_TRUE(Ok(call->Issue()));
  ResponsePtr response = call->TakeResponse();
  EXPECT_THAT(allocator_.diary(), ElementsAre("start", "alloc OUTPUT0 8", "attributes OUTPUT0 8",
                                              "alloc OUTPUT1 7", "attributes OUTPUT1 7"));
  allocator_.ClearDiary();
  response.reset();
  EXPECT_THAT(allocator_.diary(),
              testing::UnorderedElementsAre("release OUTPUT0 8", "release OUTPUT1 7"));
}

TEST_F(InferTest, EmptyOutputNeedsNoBuffer) {
  Call call(server(), "id", &allocator_);
  call.AddFloats("INPUT0", {1, 0}, {});
  ASSERT_TRUE(Ok(call.Issue()));
  ResponsePtr response = call.TakeResponse();
  const std::vector<Output> outputs = Outputs(response);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(outputs[0].shape, ElementsAre(1, 0));
  EXPECT_EQ(outputs[0].userp, nullptr);
  response.reset();
  EXPECT_THAT(allocator_.diary(), ElementsAre("start", "alloc OUTPUT0 0", "attributes OUTPUT0 0"));
}

TEST_F(InferTest, AllocatorFailuresBecomeErrors) {
  struct Case {
    bool DiaryAllocator::*failure;
    TRITONSERVER_Error_Code code;
    const char* text;
  };
  const Case cases[] = {
      {&DiaryAllocator::fail_alloc, TRITONSERVER_ERROR_UNAVAILABLE, "no room here"},
      {&DiaryAllocator::fail_attributes, TRITONSERVER_ERROR_UNAVAILABLE, "cannot describe it"},
      {&DiaryAllocator::give_nothing, TRITONSERVER_ERROR_INTERNAL, "output 'OUTPUT0'"},
  };
  for (const Case& c : cases) {
    DiaryAllocator allocator;
    allocator.*c.failure = true;
    Call call(server(), "id", &allocator);
    call.AddFloats("INPUT0", {1, 1}, {1});
    ASSERT_TRUE(Ok(call.Issue()));
    ResponsePtr response = call.TakeResponse();
    // Each call returns a new error.
    EXPECT_TRUE(Fails(TRITONSERVER_InferenceResponseError(response.get()), c.code, c.text));
    EXPECT_TRUE(Fails(TRITONSERVER_InferenceResponseError(response.get()), c.code, c.text));
    response.reset();
    const std::vector<std::string> diary = allocator.diary();
    const auto count = [&diary](const char* entry) {
      return std::count(diary.begin(), diary.end(), entry);
    };
    EXPECT_EQ(count("release OUTPUT0 4"), allocator.fail_attributes ? 1 : 0);
  }
}

TEST_F(InferTest, FailedStartIsOnlyLogged) {
  allocator_.fail_start = true;
  Call call(server(), "id", &allocator_);
  call.AddFloats("INPUT0", {1, 1}, {1});
  ASSERT_TRUE(Ok(call.Issue()));
  EXPECT_EQ(Outputs(call.TakeResponse()).size(), 1u);
}

TEST_F(InferTest, UnknownModelsAndVersions) {
  TRITONSERVER_InferenceRequest* request = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestNew(&request, server().get(), "nobody", -1),
                    TRITONSERVER_ERROR_NOT_FOUND,
                    "Request for unknown model: 'nobody' is not found"));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestNew(&request, server().get(), "id", 2),
                    TRITONSERVER_ERROR_NOT_FOUND,
                    "Request for unknown model: 'id' version 2 is not found"));
  EXPECT_EQ(request, nullptr);
}

TEST_F(InferTest, RefusedRequestsStayWithTheirOwnerAndCanBeMended) {
  Call call(server(), "id", &allocator_);
  const auto refused = [&call](const char* text) {
    const bool as_expected =
        static_cast<bool>(Fails(call.Issue(), TRITONSERVER_ERROR_INVALID_ARG, text));
    EXPECT_TRUE(as_expected) << text;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveAllInputs(call.request())));
  };
  refused("[request id: <id_unknown>] expected 1 inputs but got 0 inputs for model 'id'");
  call.AddFloats("OTHER", {1, 1}, {1});
  refused("unexpected inference input 'OTHER' for model 'id'");
  call.AddFloats("INPUT0", {1, 1, 1}, {1});
  refused("unexpected shape for input 'INPUT0' for model 'id'. Expected [-1,-1], got [1,1,1]");
  call.AddFloats("INPUT0", {9, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  refused("inference request batch-size must be <= 8 for 'id'");
  call.AddInput("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, "1234");
  refused("data-type is 'INT32', but model 'id' expects 'FP32'");
  call.AddFloats("INPUT0", {1, 3}, {1, 2});
  refused("input byte size mismatch for input 'INPUT0' for model 'id'. Expected 12, got 8");
  call.AddFloats("INPUT0", {1, 1}, {1});
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddRequestedOutput(call.request(), "NOTHING")));
  refused("unexpected inference output 'NOTHING' for model 'id'");

  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(call.request())));
  call.AddFloats("INPUT0", {1, 1}, {42});
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr response = call.TakeResponse();
  EXPECT_THAT(Floats(Outputs(response).at(0)), ElementsAre(42));
}

TEST_F(InferTest, NeedsItsCallbacks) {
  TRITONSERVER_InferenceRequest* request = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestNew(&request, server().get(), "id", -1)));
  const auto issue = [&] {
    return TRITONSERVER_ServerInferAsync(server().get(), request, nullptr);
  };
  EXPECT_TRUE(Fails(issue(), TRITONSERVER_ERROR_INVALID_ARG, "expected 1 inputs but got 0"))
      << "what is wrong with the content comes first";
  const int64_t shape[] = {1, 1};
  const float value = 5;
  ASSERT_TRUE(Ok(
      TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 2)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
      request, "INPUT0", &value, sizeof(value), TRITONSERVER_MEMORY_CPU, 0)));
  EXPECT_TRUE(Fails(issue(), TRITONSERVER_ERROR_INVALID_ARG, "release callback"));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(request)));
}

TEST_F(InferTest, CanBeIssuedAgainAfterItsRelease) {
  Call call(server(), "id", &allocator_);
  for (int round = 0; round < 3; ++round) {
    const std::string id = "round " + std::to_string(round);
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(call.request(), id.c_str())));
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveAllInputs(call.request())));
    const std::vector<float> values(static_cast<size_t>(round) + 1, static_cast<float>(round));
    call.AddFloats("INPUT0", {1, round + 1}, values);
    ASSERT_TRUE(Ok(call.Issue()));
    const ResponsePtr response = call.TakeResponse();
    EXPECT_EQ(Floats(Outputs(response).at(0)), values);
    const char* answered = nullptr;
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseId(response.get(), &answered)));
    EXPECT_EQ(answered, id);
  }
}

TEST_F(InferTest, CancellationNeedsAFlight) {
  Call call(server(), "slow", &allocator_);
  bool cancelled = false;
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestCancel(call.request()),
                    TRITONSERVER_ERROR_INTERNAL,
                    "It is not possible to cancel an inference request before calling "
                    "TRITONSERVER_InferAsync."));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestIsCancelled(call.request(), &cancelled),
                    TRITONSERVER_ERROR_INTERNAL,
                    "It is not possible to query cancellation status before calling "
                    "TRITONSERVER_InferAsync."));
  EXPECT_FALSE(cancelled);
}

TEST_F(InferTest, CancelledInTheQueueIsNotExecuted) {
  // The model has one instance: the second request waits behind the first.
  Call first(server(), "slow", &allocator_);
  first.AddFloats("INPUT0", {8, 1}, std::vector<float>(8));
  Call second(server(), "slow", &allocator_);
  second.AddFloats("INPUT0", {8, 1}, std::vector<float>(8));
  ASSERT_TRUE(Ok(first.Issue()));
  ASSERT_TRUE(Ok(second.Issue()));
  bool cancelled = true;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestIsCancelled(second.request(), &cancelled)));
  EXPECT_FALSE(cancelled);
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCancel(second.request())));
  const ResponsePtr response = second.TakeResponse();
  EXPECT_TRUE(
      Fails(TRITONSERVER_InferenceResponseError(response.get()), TRITONSERVER_ERROR_CANCELLED, ""));
  EXPECT_EQ(Outputs(first.TakeResponse()).size(), 1u);
}

// Every function that changes a request.
std::vector<TRITONSERVER_Error*> TryToChange(TRITONSERVER_InferenceRequest* request,
                                             TRITONSERVER_ResponseAllocator* allocator) {
  const int64_t shape[] = {1, 1};
  static const float value = 5;
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesNew(&attributes)));
  std::vector<TRITONSERVER_Error*> results = {
      TRITONSERVER_InferenceRequestSetId(request, "changed"),
      TRITONSERVER_InferenceRequestSetFlags(request, 1),
      TRITONSERVER_InferenceRequestSetCorrelationId(request, 1),
      TRITONSERVER_InferenceRequestSetCorrelationIdString(request, "s"),
      TRITONSERVER_InferenceRequestSetPriority(request, 1),
      TRITONSERVER_InferenceRequestSetPriorityUInt64(request, 1),
      TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, 1),
      TRITONSERVER_InferenceRequestSetStringParameter(request, "p", "1"),
      TRITONSERVER_InferenceRequestSetIntParameter(request, "p", 1),
      TRITONSERVER_InferenceRequestSetBoolParameter(request, "p", true),
      TRITONSERVER_InferenceRequestSetDoubleParameter(request, "p", 1),
      TRITONSERVER_InferenceRequestAddInput(request, "x", TRITONSERVER_TYPE_FP32, shape, 2),
      TRITONSERVER_InferenceRequestAddRawInput(request, "x"),
      TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", &value, sizeof(value),
                                                   TRITONSERVER_MEMORY_CPU, 0),
      TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
          request, "INPUT0", &value, sizeof(value), TRITONSERVER_MEMORY_CPU, 0, "p"),
      TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(request, "INPUT0", &value,
                                                                       attributes),
      TRITONSERVER_InferenceRequestRemoveAllInputData(request, "INPUT0"),
      TRITONSERVER_InferenceRequestRemoveInput(request, "INPUT0"),
      TRITONSERVER_InferenceRequestRemoveAllInputs(request),
      TRITONSERVER_InferenceRequestAddRequestedOutput(request, "OUTPUT0"),
      TRITONSERVER_InferenceRequestRemoveRequestedOutput(request, "OUTPUT0"),
      TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(request),
      TRITONSERVER_InferenceRequestSetReleaseCallback(request, nullptr, nullptr),
      TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, nullptr, nullptr,
                                                       nullptr),
  };
  EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesDelete(attributes)));
  return results;
}

TEST_F(InferTest, ARequestInFlightIsLeftAlone) {
  // The model has one instance: the second request waits behind the first.
  Call first(server(), "slow", &allocator_);
  first.AddFloats("INPUT0", {8, 1}, std::vector<float>(8));
  Call second(server(), "slow", &allocator_);
  second.AddFloats("INPUT0", {8, 1}, std::vector<float>(8, 2));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(second.request(), "own")));
  ASSERT_TRUE(Ok(first.Issue()));
  ASSERT_TRUE(Ok(second.Issue()));
  for (TRITONSERVER_Error* const result : TryToChange(second.request(), allocator_.get())) {
    EXPECT_TRUE(Fails(result, TRITONSERVER_ERROR_INVALID_ARG,
                      "[request id: own] the request is in flight: it may be changed only after "
                      "its release callback was called"));
  }
  const ResponsePtr response = second.TakeResponse();
  EXPECT_EQ(Floats(Outputs(response).at(0)), std::vector<float>(8, 2));
  const char* answered = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseId(response.get(), &answered)));
  EXPECT_STREQ(answered, "own");
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(second.request(), "after")));
}

// A request that is not deleted at the end, whose callbacks run these functions as well.
struct OwnRequest {
  explicit OwnRequest(const TestServer& server, const std::string& model,
                      TRITONSERVER_ResponseAllocator* allocator, DiaryAllocator* diary) {
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestNew(&handle, server.get(), model.c_str(), -1)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(handle, "own")));
    const int64_t shape[] = {1, 1};
    EXPECT_TRUE(Ok(
        TRITONSERVER_InferenceRequestAddInput(handle, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 2)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
        handle, "INPUT0", &value, sizeof(value), TRITONSERVER_MEMORY_CPU, 0)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(
        handle,
        [](TRITONSERVER_InferenceRequest* released, uint32_t, void* userp) {
          auto* own = static_cast<OwnRequest*>(userp);
          own->on_release(released);
          std::lock_guard<std::mutex> lock(own->mu);
          own->released = true;
          own->changed.notify_all();
        },
        this)));
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetResponseCallback(
        handle, allocator, diary,
        [](TRITONSERVER_InferenceResponse* response, uint32_t, void* userp) {
          auto* own = static_cast<OwnRequest*>(userp);
          own->on_response();
          std::lock_guard<std::mutex> lock(own->mu);
          own->response.reset(response);
          own->changed.notify_all();
        },
        this)));
  }
  std::vector<float> Answer() {
    std::unique_lock<std::mutex> lock(mu);
    changed.wait(lock, [&] { return released && response != nullptr; });
    return Floats(Outputs(response).at(0));
  }

  const float value = 5;
  TRITONSERVER_InferenceRequest* handle = nullptr;
  std::function<void(TRITONSERVER_InferenceRequest*)> on_release = [](auto*) {};
  std::function<void()> on_response = [] {};
  std::mutex mu;
  std::condition_variable changed;
  bool released = false;
  ResponsePtr response;
};

TEST_F(InferTest, ReleaseCallbackMayDeleteTheRequest) {
  OwnRequest own(server(), "id", allocator_.get(), &allocator_);
  own.on_release = [](TRITONSERVER_InferenceRequest* released) {
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(released)));
  };
  ASSERT_TRUE(Ok(TRITONSERVER_ServerInferAsync(server().get(), own.handle, nullptr)));
  EXPECT_THAT(own.Answer(), ElementsAre(5));
}

TEST_F(InferTest, DeletedInFlightARequestLastsUntilItsReleaseCallback) {
  OwnRequest own(server(), "slow", allocator_.get(), &allocator_);
  const auto deleted_already = [](TRITONSERVER_InferenceRequest* request) {
    return Fails(TRITONSERVER_InferenceRequestDelete(request), TRITONSERVER_ERROR_INVALID_ARG,
                 "the request was deleted already");
  };
  std::string id;
  own.on_release = [&](TRITONSERVER_InferenceRequest* released) {
    const char* text = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestId(released, &text)));
    id = text;
    EXPECT_TRUE(deleted_already(released));
  };
  ASSERT_TRUE(Ok(TRITONSERVER_ServerInferAsync(server().get(), own.handle, nullptr)));
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(own.handle)));
  EXPECT_TRUE(deleted_already(own.handle));
  EXPECT_THAT(own.Answer(), ElementsAre(5));
  EXPECT_EQ(id, "own");
}

TEST_F(InferTest, AResponseCallbackMayDeleteTheRequest) {
  // The release callback runs before or after the response callback, so several are tried.
  for (int i = 0; i < 50; ++i) {
    OwnRequest own(server(), "id", allocator_.get(), &allocator_);
    own.on_response = [&own] { EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(own.handle))); };
    ASSERT_TRUE(Ok(TRITONSERVER_ServerInferAsync(server().get(), own.handle, nullptr)));
    EXPECT_THAT(own.Answer(), ElementsAre(5));
  }
}

TEST_F(InferTest, InputDataMayComeInPieces) {
  Call call(server(), "id", &allocator_);
  const float values[] = {1, 2, 3, 4};
  call.AddFloats("INPUT0", {1, 4}, {9, 9});
  TRITONSERVER_InferenceRequest* const request = call.request();
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveAllInputData(request, "INPUT0")));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", values, 4,
                                                              TRITONSERVER_MEMORY_CPU, 0)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", nullptr, 0,
                                                              TRITONSERVER_MEMORY_CPU, 0)));
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesNew(&attributes)));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetByteSize(attributes, 12)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
      request, "INPUT0", values + 1, attributes)));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesDelete(attributes)));
  // For instances with another host policy, so it is not used here.
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
      request, "INPUT0", values, 16, TRITONSERVER_MEMORY_CPU_PINNED, 0, "nobody's")));
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr response = call.TakeResponse();
  EXPECT_THAT(Floats(Outputs(response).at(0)), ElementsAre(1, 2, 3, 4));
}

TEST_F(InferTest, InputsAreCheckedWhileTheyAreAdded) {
  Call call(server(), "id", &allocator_);
  TRITONSERVER_InferenceRequest* const request = call.request();
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetId(request, "x")));
  call.AddFloats("INPUT0", {1, 1}, {1});
  const int64_t shape[] = {1, 1};
  EXPECT_TRUE(Fails(
      TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 2),
      TRITONSERVER_ERROR_INVALID_ARG, "[request id: x] input 'INPUT0' already exists in request"));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestAddRawInput(request, "RAW"),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "[request id: x] raw input 'RAW' can't be added to request with other inputs"));
  const char* const missing = "[request id: x] input 'OTHER' does not exist in request";
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestRemoveInput(request, "OTHER"),
                    TRITONSERVER_ERROR_INVALID_ARG, missing));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestRemoveAllInputData(request, "OTHER"),
                    TRITONSERVER_ERROR_INVALID_ARG, missing));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestAppendInputData(request, "OTHER", shape, 4,
                                                                 TRITONSERVER_MEMORY_CPU, 0),
                    TRITONSERVER_ERROR_INVALID_ARG, missing));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", shape, 4,
                                                                 TRITONSERVER_MEMORY_GPU, 0),
                    TRITONSERVER_ERROR_UNSUPPORTED, "data of input 'INPUT0' is in GPU memory"));
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestRemoveInput(request, "INPUT0")));
}

TEST_F(InferTest, RawInputTakesItsShapeFromTheModel) {
  Call call(server(), "id", &allocator_);
  const float values[] = {1, 2, 3};
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddRawInput(call.request(), "any")));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
      call.request(), "any", values, sizeof(values), TRITONSERVER_MEMORY_CPU, 0)));
  ASSERT_TRUE(Ok(call.Issue()));
  const ResponsePtr response = call.TakeResponse();
  const std::vector<Output> outputs = Outputs(response);
  EXPECT_THAT(outputs.at(0).shape, ElementsAre(1, 3));
  EXPECT_THAT(Floats(outputs.at(0)), ElementsAre(1, 2, 3));
}

TEST_F(InferTest, RemembersItsProperties) {
  Call call(server(), "id", &allocator_);
  TRITONSERVER_InferenceRequest* const request = call.request();
  const char* text = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestId(request, &text)));
  EXPECT_STREQ(text, "");
  uint32_t flags = 9;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestFlags(request, &flags)));
  EXPECT_EQ(flags, 0u);
  ASSERT_TRUE(
      Ok(TRITONSERVER_InferenceRequestSetFlags(request, TRITONSERVER_REQUEST_FLAG_SEQUENCE_END)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestFlags(request, &flags)));
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_REQUEST_FLAG_SEQUENCE_END));
  uint64_t timeout = 9;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestTimeoutMicroseconds(request, &timeout)));
  EXPECT_EQ(timeout, 0u);
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, 1000)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestTimeoutMicroseconds(request, &timeout)));
  EXPECT_EQ(timeout, 1000u);

  // The model has no priority levels, so its default counts whatever is requested.
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetPriority(request, 2)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetPriorityUInt64(request, 1ull << 40)));
  uint32_t priority = 9;
  uint64_t priority64 = 9;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestPriority(request, &priority)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestPriorityUInt64(request, &priority64)));
  EXPECT_EQ(priority, 0u);
  EXPECT_EQ(priority64, 0u);

  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetStringParameter(request, "s", "text")));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetIntParameter(request, "i", 1)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetBoolParameter(request, "b", true)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetDoubleParameter(request, "d", 0.5)));
}

TEST_F(InferTest, CorrelationIdIsANumberOrAText) {
  Call call(server(), "id", &allocator_);
  TRITONSERVER_InferenceRequest* const request = call.request();
  uint64_t number = 9;
  const char* text = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCorrelationId(request, &number)));
  EXPECT_EQ(number, 0u);
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestCorrelationIdString(request, &text),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "given request's correlation id is not a string"));
  ASSERT_TRUE(Ok(
      TRITONSERVER_InferenceRequestSetCorrelationIdString(request, std::string(128, 'x').c_str())));
  EXPECT_TRUE(Fails(
      TRITONSERVER_InferenceRequestSetCorrelationIdString(request, std::string(129, 'y').c_str()),
      TRITONSERVER_ERROR_UNSUPPORTED,
      "string correlation ID cannot be longer than 128 characters"));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCorrelationIdString(request, &text)));
  EXPECT_EQ(text, std::string(128, 'x'));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestCorrelationId(request, &number),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "given request's correlation id is not an unsigned int"));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetCorrelationId(request, 7)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCorrelationId(request, &number)));
  EXPECT_EQ(number, 7u);
}

}  // namespace
}  // namespace nereid_test
