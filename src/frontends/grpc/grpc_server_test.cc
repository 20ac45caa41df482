// SPDX-License-Identifier: Apache-2.0
// Inference over a loopback connection, with a real server.
#include "frontends/grpc/grpc_server.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

#include "frontends/grpc/testing/loopback.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using testing::HasSubstr;

std::vector<float> Numbers(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.5f);
  return numbers;
}

TestModel Testing(const std::string& behaviour, const std::string& more = "") {
  return {behaviour, "testing", absl::StrCat(ModelParameterText("behaviour", behaviour), more)};
}

class GrpcInferTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    TestModel decoupled = Testing("decoupled");
    decoupled.more += "model_transaction_policy { decoupled: true }\n";
    TestModel twice = Testing("decoupled", ModelParameterText("responses", "2"));
    twice.name = "two_responses";
    loopback_ = new Loopback({{"echo"},
                              decoupled,
                              twice,
                              Testing("releases_without_answer"),
                              Testing("error_before_release"),
                              Testing("keep_requests"),
                              Testing("wait_for_cancel", ModelParameterText("delay_ms", "60000"))});
  }
  static void TearDownTestSuite() {
    delete loopback_;
    loopback_ = nullptr;
  }
  // No call leaves anything behind.
  void TearDown() override { EXPECT_TRUE(loopback_->BecomesIdle()); }

  static ModelInferRequest EchoRequest(const std::vector<float>& values,
                                       const std::string& model = "echo") {
    return Loopback::EchoRequest(model, values);
  }
  static void ExpectError(const ModelInferRequest& request, grpc::StatusCode code,
                          const std::string& text) {
    const grpc::Status status = loopback_->Infer(request);
    EXPECT_EQ(status.error_code(), code);
    EXPECT_EQ(status.error_message(), text);
  }

  static Loopback* loopback_;
};

Loopback* GrpcInferTest::loopback_ = nullptr;

TEST_F(GrpcInferTest, SmallTensor) {
  ModelInferRequest request = EchoRequest({1.5f, -2});
  request.set_id("mine");
  ModelInferResponse response;
  const grpc::Status status = loopback_->Infer(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.id(), "mine");
  EXPECT_EQ(response.model_name(), "echo");
  EXPECT_EQ(response.model_version(), "1");
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).name(), "OUTPUT0");
  EXPECT_EQ(response.outputs(0).datatype(), "FP32");
  EXPECT_EQ(response.outputs(0).shape_size(), 1);
  EXPECT_EQ(response.outputs(0).shape(0), 2);
  ASSERT_EQ(response.raw_output_contents_size(), 1);
  EXPECT_EQ(response.raw_output_contents(0), FloatBytes({1.5f, -2}));
}

// Sizes around that from which outputs are sent where they lie, and one of many slices.
TEST_F(GrpcInferTest, TensorsOfManySizes) {
  for (const size_t count : {0, 1, 1000, 1023, 1024, 1025, 5000, 100'000, 2'000'000}) {
    const ModelInferRequest request = EchoRequest(Numbers(count));
    ModelInferResponse response;
    const grpc::Status status = loopback_->Infer(request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.raw_output_contents_size(), 1);
    EXPECT_TRUE(response.raw_output_contents(0) == request.raw_input_contents(0)) << count;
  }
}

TEST_F(GrpcInferTest, TypedContents) {
  ModelInferRequest request = EchoRequest({});
  request.clear_raw_input_contents();
  request.mutable_inputs(0)->set_shape(0, 2);
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(3);
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(4);
  ModelInferResponse response;
  ASSERT_TRUE(loopback_->Infer(request, &response).ok());
  EXPECT_EQ(response.raw_output_contents(0), FloatBytes({3, 4}));
}

TEST_F(GrpcInferTest, Classification) {
  ModelInferRequest request = EchoRequest({1, 3, 2});
  ModelInferRequest::InferRequestedOutputTensor* const output = request.add_outputs();
  output->set_name("OUTPUT0");
  (*output->mutable_parameters())["classification"].set_int64_param(1);
  ModelInferResponse response;
  const grpc::Status status = loopback_->Infer(request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.outputs(0).datatype(), "BYTES");
  EXPECT_EQ(response.outputs(0).shape(0), 1);
  EXPECT_EQ(response.raw_output_contents(0), std::string("\x0a\0\0\0"
                                                         "3.000000:1",
                                                         14));
}

TEST_F(GrpcInferTest, RequestsThatAreRefused) {
  using grpc::StatusCode;
  ExpectError(EchoRequest({1}, "nobody"), StatusCode::NOT_FOUND,
              "Request for unknown model: 'nobody' is not found");
  ModelInferRequest request = EchoRequest({1});
  request.set_model_version("one");
  ExpectError(request, StatusCode::INVALID_ARGUMENT,
              "failed to get model version from specified version string 'one' (details: stol), "
              "version should be an integral value > 0");
  request = EchoRequest({1});
  request.clear_raw_input_contents();
  ExpectError(request, StatusCode::INVALID_ARGUMENT,
              "unable to find data for input tensor 'INPUT0' for model 'echo' in request.");
  request = EchoRequest({1});
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(3);
  ExpectError(request, StatusCode::INVALID_ARGUMENT,
              "contents field must not be specified when using raw_input_contents for 'INPUT0' for "
              "model 'echo'");
  request = EchoRequest({1});
  auto& parameters = *request.mutable_inputs(0)->mutable_parameters();
  parameters["shared_memory_region"].set_string_param("r");
  parameters["shared_memory_byte_size"].set_int64_param(4);
  ExpectError(request, StatusCode::NOT_FOUND, "Unable to find shared memory region: 'r'");
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(3);
  ExpectError(request, StatusCode::INVALID_ARGUMENT,
              "unexpected 'content' provided when using shared memory for input tensor 'INPUT0' "
              "for model 'echo'");
}

TEST_F(GrpcInferTest, DecoupledModel) {
  ExpectError(EchoRequest({1}, "decoupled"), grpc::StatusCode::UNIMPLEMENTED,
              "ModelInfer RPC doesn't support models with decoupled transaction policy");
}

TEST_F(GrpcInferTest, BackendsThatMisbehave) {
  ExpectError(EchoRequest({1}, "two_responses"), grpc::StatusCode::INTERNAL,
              "expected a single response, got 2");
  grpc::Status status = loopback_->Infer(EchoRequest({1}, "releases_without_answer"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), HasSubstr("without a final response"));
  status = loopback_->Infer(EchoRequest({1}, "error_before_release"));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.error_message(), "");
}

// The answer comes from another thread, some time after Execute.
TEST_F(GrpcInferTest, AnswerFromAnotherThread) {
  ModelInferResponse response;
  ASSERT_TRUE(loopback_->Infer(EchoRequest({7}, "keep_requests"), &response).ok());
  EXPECT_EQ(response.raw_output_contents(0), FloatBytes({7}));
}

TEST_F(GrpcInferTest, BytesThatAreNoMessage) {
  grpc::GenericStub stub(loopback_->channel());
  const grpc::Slice slice("\xff\xff\xff\xff\xff\xff");
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  std::promise<grpc::Status> answered;
  stub.UnaryCall(&context, "/inference.GRPCInferenceService/ModelInfer", grpc::StubOptions(),
                 &request, &response,
                 [&](grpc::Status status) { answered.set_value(std::move(status)); });
  const grpc::Status status = answered.get_future().get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "Unable to parse request");
}

// Without cancellation the model would answer after a minute.
TEST_F(GrpcInferTest, CancelledByTheClient) {
  grpc::ClientContext context;
  const ModelInferRequest request = EchoRequest({1}, "wait_for_cancel");
  std::future<grpc::Status> answer = std::async(std::launch::async, [&] {
    ModelInferResponse response;
    return loopback_->stub()->ModelInfer(&context, request, &response);
  });
  ASSERT_TRUE(Eventually([] { return loopback_->grpc()->in_flight_calls() == 1; }));
  context.TryCancel();
  EXPECT_EQ(answer.get().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(loopback_->BecomesIdle());
}

TEST_F(GrpcInferTest, DeadlineOfTheClient) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  ModelInferResponse response;
  const grpc::Status status =
      loopback_->stub()->ModelInfer(&context, EchoRequest({1}, "wait_for_cancel"), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(loopback_->BecomesIdle());
}

TEST_F(GrpcInferTest, ManyCallsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const size_t count = i % 50 == 0 ? 50'000 : static_cast<size_t>(1 + t + i % 7);
        const ModelInferRequest request =
            EchoRequest(std::vector<float>(count, static_cast<float>(t * 1000 + i)));
        ModelInferResponse response;
        const bool right = loopback_->Infer(request, &response).ok() &&
                           response.raw_output_contents(0) == request.raw_input_contents(0);
        if (!right) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(GrpcServer, BytesInFlightAreLimited) {
  ServerOptions options;
  options.max_in_flight_bytes = 100'000;
  Loopback loopback({{"echo"}}, options);
  const grpc::Status status = loopback.Infer(Loopback::EchoRequest("echo", Numbers(30'000)));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("'in-flight bytes' of 100000 is exhausted"));
  EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", Numbers(1000))).ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcServer, TheTreeOfAMessageIsChargedBeforeItIsParsed) {
  ServerOptions options;
  options.max_in_flight_bytes = 1'000'000;
  Loopback loopback({{"echo"}}, options);
  ModelInferRequest request;
  request.set_model_name("echo");
  for (int i = 0; i < 20'000; ++i) request.add_inputs();  // 40 KB, that is 4 MB when parsed
  EXPECT_EQ(loopback.Infer(request).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", Numbers(1000))).ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcServer, RequestsOfAModelAreLimited) {
  ServerOptions options;
  options.max_model_requests = 4;
  TestModel slow{"slow"};
  slow.more = ModelParameterText("execute_delay_ms", "300");
  Loopback loopback({slow, {"echo"}}, options);
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      const grpc::Status status = loopback.Infer(Loopback::EchoRequest("slow", Numbers(1)));
      if (status.ok()) return;
      EXPECT_EQ(status.error_message(),
                "server limit 'requests of a model' of 4 is exhausted for model 'slow'; try again "
                "later or raise --max-model-requests");
      ++refused;
    });
  }
  EXPECT_TRUE(Eventually([&] { return refused.load() > 0; }));
  EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", Numbers(1))).ok()) << "another model";
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcServer, PortInUse) {
  Loopback loopback({{"echo"}});
  GrpcServerOptions options;
  options.address = "127.0.0.1";
  options.port = loopback.grpc()->port();
  const auto second = GrpcServer::Start(options, loopback.server(), loopback.executors());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              ::testing::StartsWith(absl::StrCat("Socket '127.0.0.1:", options.port,
                                                 "' already in use by process ")));
}

TEST(GrpcServer, SharedPort) {
  GrpcServerOptions options;
  options.reuse_port = true;
  Loopback loopback({{"echo"}}, {}, options);
  options.address = "127.0.0.1";
  options.port = loopback.grpc()->port();
  const auto second = GrpcServer::Start(options, loopback.server(), loopback.executors());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)->port(), options.port);
}

TEST(GrpcServer, OptionsThatAreRefused) {
  Loopback loopback({{"echo"}});
  GrpcServerOptions options;
  options.address = "127.0.0.1";
  options.infer_threads = 129;
  EXPECT_EQ(GrpcServer::Start(options, loopback.server(), loopback.executors()).status().code(),
            absl::StatusCode::kInvalidArgument);
  options.infer_threads = 2;
  options.tls.enabled = true;
  EXPECT_EQ(GrpcServer::Start(options, loopback.server(), loopback.executors()).status().code(),
            absl::StatusCode::kInvalidArgument);
  options.tls.key = options.tls.certificate = testing::TempDir() + "no such file";
  EXPECT_EQ(GrpcServer::Start(options, loopback.server(), loopback.executors()).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(GrpcServer, StopLetsCallsFinishAndRefusesNewOnes) {
  Loopback loopback({{"echo"}, Testing("slow", ModelParameterText("delay_ms", "1000"))});
  std::future<grpc::Status> slow = std::async(
      std::launch::async, [&] { return loopback.Infer(Loopback::EchoRequest("slow", {1})); });
  ASSERT_TRUE(Eventually([&] { return loopback.grpc()->in_flight_calls() == 1; }));
  std::thread stop(
      [&] { loopback.grpc()->Stop(std::chrono::steady_clock::now() + std::chrono::seconds(20)); });
  grpc::Status refused;
  EXPECT_TRUE(Eventually([&] {
    refused = loopback.Infer(Loopback::EchoRequest("echo", {1}));
    return !refused.ok();
  }));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.error_message(),
            "GRPC server is shutting down and has stopped accepting new requests.");
  EXPECT_TRUE(slow.get().ok());
  stop.join();
}

// The model's answer comes when the frontend is gone already, and the server has to live with it.
TEST(GrpcServer, StopDoesNotWaitBeyondItsDeadline) {
  Loopback loopback({Testing("slow", ModelParameterText("delay_ms", "4000"))});
  const auto start = std::chrono::steady_clock::now();
  std::future<grpc::Status> slow = std::async(
      std::launch::async, [&] { return loopback.Infer(Loopback::EchoRequest("slow", {1})); });
  ASSERT_TRUE(Eventually([&] { return loopback.grpc()->in_flight_calls() == 1; }));
  loopback.grpc()->Stop(std::chrono::steady_clock::now());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(3900));
  // The model may notice that its request was cancelled, or answer late: both are well.
  EXPECT_FALSE(slow.get().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

}  // namespace
}  // namespace nereid
