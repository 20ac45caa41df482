// SPDX-License-Identifier: Apache-2.0
// The effects of misbehaving backends on a client of the C API: models of the testing backend that
// answer several times, late, wrongly or not at all. The server continues in every case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A model that echoes one INT32 vector, INPUT0 -> OUTPUT0, in batches of up to 4.
std::string TestingConfig(const std::string& behaviour,
                          const std::vector<std::pair<std::string, std::string>>& parameters = {},
                          const std::string& more = "") {
  std::string config = R"(backend: "testing"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 1 ] }
)" + more;
  auto all = parameters;
  all.push_back({"behaviour", behaviour});
  for (const auto& [key, value] : all) {
    config += "parameters { key: \"" + key + "\" value { string_value: \"" + value + "\" } }\n";
  }
  return config;
}

constexpr char kDecoupled[] = "model_transaction_policy { decoupled: true }\n";

class MisbehaviourTest : public testing::Test {
 protected:
  // Starts a server with one model, called "model".
  void Start(const std::string& config) {
    repository_.AddModel("model", config);
    server_ = std::make_unique<TestServer>(repository_);
  }

  std::unique_ptr<Call> NewCall(int32_t value) {
    auto call = std::make_unique<Call>(*server_, "model", &allocator_);
    call->AddInput("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, Bytes(value));
    return call;
  }

  static std::string Bytes(int32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  // Issues one request and expects the error as its only response.
  void ExpectError(int32_t value, TRITONSERVER_Error_Code code, const char* text) {
    const std::unique_ptr<Call> call = NewCall(value);
    ASSERT_TRUE(Ok(call->Issue()));
    const ResponsePtr response = call->TakeResponse();
    ASSERT_NE(response, nullptr);
    EXPECT_TRUE(Fails(TRITONSERVER_InferenceResponseError(response.get()), code, text));
    uint32_t outputs = 9;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseOutputCount(response.get(), &outputs)));
    EXPECT_EQ(outputs, 0u);
  }

  void ExpectEcho(int32_t value) {
    const std::unique_ptr<Call> call = NewCall(value);
    ASSERT_TRUE(Ok(call->Issue()));
    const ResponsePtr response = call->TakeResponse();
    EXPECT_EQ(Outputs(response).at(0).bytes, Bytes(value));
  }

  Repository repository_;
  DiaryAllocator allocator_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(MisbehaviourTest, DecoupledModelSendsManyResponsesAndThenTheFinalFlag) {
  Start(TestingConfig("decoupled", {{"responses", "input"}}, kDecoupled));
  for (const int32_t count : {0, 1, 5}) {
    const std::unique_ptr<Call> call = NewCall(count);
    ASSERT_TRUE(Ok(call->Issue()));
    call->Wait();
    const std::vector<ResponsePtr> responses = call->TakeResponses();
    ASSERT_EQ(responses.size(), static_cast<size_t>(count));
    for (const ResponsePtr& response : responses) {
      EXPECT_EQ(Outputs(response).at(0).bytes, Bytes(count));
    }
    EXPECT_EQ(call->empty_callbacks(), 1) << "the final flag comes alone";
  }
}

TEST_F(MisbehaviourTest, DecoupledModelMaySendTheFinalFlagWithItsLastResponse) {
  Start(TestingConfig("decoupled", {{"responses", "3"}, {"final_with_last", "true"}}, kDecoupled));
  const std::unique_ptr<Call> call = NewCall(1);
  ASSERT_TRUE(Ok(call->Issue()));
  call->Wait();
  EXPECT_EQ(call->TakeResponses().size(), 3u);
  EXPECT_EQ(call->empty_callbacks(), 0);
}

TEST_F(MisbehaviourTest, ResponsesOfADecoupledModelArriveAsTheyAreSent) {
  Start(TestingConfig("decoupled", {{"responses", "2"}, {"delay_ms", "20"}}, kDecoupled));
  const std::unique_ptr<Call> call = NewCall(1);
  ASSERT_TRUE(Ok(call->Issue()));
  call->WaitForResponses(1);
  EXPECT_FALSE(call->final());
  call->Wait();
  EXPECT_EQ(call->TakeResponses().size(), 2u);
}

// The model sends from its own threads, long after it has released the request.
TEST_F(MisbehaviourTest, ResponsesAndCancellationOutliveTheRequest) {
  Start(R"(backend: "repeat"
input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
        { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
         { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
)" + std::string(kDecoupled));
  const auto repeat = [this](int32_t value, int32_t then_after_ms) {
    auto call = std::make_unique<Call>(*server_, "model", &allocator_);
    call->AddInput("IN", TRITONSERVER_TYPE_INT32, {2}, Bytes(value) + Bytes(value + 1));
    call->AddInput("DELAY", TRITONSERVER_TYPE_UINT32, {2}, Bytes(0) + Bytes(then_after_ms));
    call->AddInput("WAIT", TRITONSERVER_TYPE_UINT32, {1}, Bytes(0));
    return call;
  };
  const std::unique_ptr<Call> endless = repeat(1, 60'000);
  ASSERT_TRUE(Ok(endless->Issue()));
  endless->WaitForResponses(1);
  // The only instance is free again.
  const std::unique_ptr<Call> other = repeat(5, 0);
  ASSERT_TRUE(Ok(other->Issue()));
  other->Wait();
  const std::vector<ResponsePtr> responses = other->TakeResponses();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(Outputs(responses[1]).at(0).bytes, Bytes(6));
  EXPECT_EQ(other->empty_callbacks(), 1);
  EXPECT_FALSE(endless->final());

  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCancel(endless->request())));
  endless->Wait();
  const std::vector<ResponsePtr> ended = endless->TakeResponses();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(Outputs(ended[0]).at(0).bytes, Bytes(1));
  EXPECT_TRUE(Fails(TRITONSERVER_InferenceResponseError(ended[1].get()),
                    TRITONSERVER_ERROR_CANCELLED, "cancelled"));
}

TEST_F(MisbehaviourTest, AFailureStaysWithItsRequest) {
  Start(
      TestingConfig("fails_some", {}, "dynamic_batching { max_queue_delay_microseconds: 1000 }\n"));
  std::vector<std::unique_ptr<Call>> calls;
  for (const int32_t value : {1, -1, 2, -2}) {
    calls.push_back(NewCall(value));
    ASSERT_TRUE(Ok(calls.back()->Issue()));
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const ResponsePtr response = calls[i]->TakeResponse();
    if (i % 2 == 0) {
      EXPECT_EQ(Outputs(response).size(), 1u) << i;
    } else {
      EXPECT_TRUE(Fails(TRITONSERVER_InferenceResponseError(response.get()),
                        TRITONSERVER_ERROR_INVALID_ARG, "refused the value"));
    }
  }
}

TEST_F(MisbehaviourTest, ExceptionBecomesAnError) {
  Start(TestingConfig("throws"));
  for (int round = 0; round < 2; ++round) {
    ExpectError(1, TRITONSERVER_ERROR_INTERNAL, "threw on purpose");
  }
}

TEST_F(MisbehaviourTest, ErrorOfExecuteAnswersTheRequest) {
  Start(TestingConfig("error_before_release"));
  for (int round = 0; round < 2; ++round) {
    ExpectError(1, TRITONSERVER_ERROR_INTERNAL, "failed on purpose");
  }
}

TEST_F(MisbehaviourTest, ErrorOfExecuteAnswersOnlyWhatIsNotReleased) {
  Start(TestingConfig("error_after_releasing_some", {},
                      "dynamic_batching { max_queue_delay_microseconds: 1000 }\n"));
  std::vector<std::unique_ptr<Call>> calls;
  for (int32_t value = 0; value < 8; ++value) {
    calls.push_back(NewCall(value));
    ASSERT_TRUE(Ok(calls.back()->Issue()));
  }
  for (const auto& call : calls) EXPECT_NE(call->TakeResponse(), nullptr);
}

TEST_F(MisbehaviourTest, RequestsMayBeAnsweredLongAfterExecute) {
  Start(TestingConfig("keep_requests", {{"delay_ms", "20"}}));
  std::vector<std::unique_ptr<Call>> calls;
  for (int32_t value = 0; value < 5; ++value) {
    calls.push_back(NewCall(value));
    ASSERT_TRUE(Ok(calls.back()->Issue()));
  }
  for (int32_t value = 0; value < 5; ++value) {
    const ResponsePtr response = calls[static_cast<size_t>(value)]->TakeResponse();
    EXPECT_EQ(Outputs(response).at(0).bytes, Bytes(value));
  }
}

TEST_F(MisbehaviourTest, StopWaitsForRequestsThatTheBackendKept) {
  Start(TestingConfig("keep_requests", {{"delay_ms", "50"}}));
  const std::unique_ptr<Call> call = NewCall(6);
  ASSERT_TRUE(Ok(call->Issue()));
  server_->Delete();
  EXPECT_TRUE(call->final());
  EXPECT_EQ(Outputs(call->TakeResponse()).at(0).bytes, Bytes(6));
}

TEST_F(MisbehaviourTest, ReleaseWithoutAnswerIsAnswered) {
  Start(TestingConfig("releases_without_answer"));
  ExpectError(1, TRITONSERVER_ERROR_INTERNAL, "without a final response");
}

TEST_F(MisbehaviourTest, DroppedFactoryIsAnswered) {
  Start(TestingConfig("drops_factory", {}, kDecoupled));
  ExpectError(1, TRITONSERVER_ERROR_INTERNAL, "without a final response");
}

TEST_F(MisbehaviourTest, SecondAnswerIsDropped) {
  Start(TestingConfig("answers_twice"));
  ExpectEcho(1);
  ExpectEcho(2);
}

TEST_F(MisbehaviourTest, UnknownOutputIsAnError) {
  Start(TestingConfig("unknown_output"));
  ExpectError(1, TRITONSERVER_ERROR_INVALID_ARG,
              "unexpected inference output 'NOT_AN_OUTPUT' for model 'model'");
}

TEST_F(MisbehaviourTest, BackendSeesACancellation) {
  Start(TestingConfig("wait_for_cancel", {{"delay_ms", "60000"}}));
  const std::unique_ptr<Call> call = NewCall(1);
  ASSERT_TRUE(Ok(call->Issue()));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestCancel(call->request())));
  const ResponsePtr response = call->TakeResponse();
  EXPECT_TRUE(
      Fails(TRITONSERVER_InferenceResponseError(response.get()), TRITONSERVER_ERROR_CANCELLED, ""));
}

TEST_F(MisbehaviourTest, LoadFailuresAreReported) {
  repository_.AddModel("fails", TestingConfig("fail_on_load"));
  repository_.AddModel("throws", TestingConfig("crash_on_load"));
  repository_.AddModel("instance", TestingConfig("instance_fail_on_load"));
  repository_.AddModel("unready", TestingConfig("not_ready"));
  repository_.AddModel("good", TestingConfig("echo"));
  Options options(repository_, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), "good")));
  server_ = std::make_unique<TestServer>(options);
  const auto load = [this](const char* model) {
    return TRITONSERVER_ServerLoadModel(server_->get(), model);
  };
  EXPECT_TRUE(
      Fails(load("fails"), TRITONSERVER_ERROR_INVALID_ARG, "ModelInitialize failed on purpose"));
  EXPECT_TRUE(
      Fails(load("throws"), TRITONSERVER_ERROR_INVALID_ARG, "ModelInitialize threw on purpose"));
  EXPECT_TRUE(Fails(load("instance"), TRITONSERVER_ERROR_INVALID_ARG,
                    "ModelInstanceInitialize failed on purpose"));
  EXPECT_THAT(server_->Index(), AllOf(HasSubstr("\"fails\",\"version\":\"1\",\"state\":"
                                                "\"UNAVAILABLE\""),
                                      HasSubstr("failed on purpose")));
  ASSERT_TRUE(Ok(load("unready")));
  bool ready = true;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelIsReady(server_->get(), "unready", -1, &ready)));
  EXPECT_FALSE(ready);
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelIsReady(server_->get(), "good", -1, &ready)));
  EXPECT_TRUE(ready);
}

}  // namespace
}  // namespace nereid_test
