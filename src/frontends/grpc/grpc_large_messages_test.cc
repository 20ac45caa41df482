// SPDX-License-Identifier: Apache-2.0
// Messages that are too large for the loop's thread, compressed ones and those of which protobuf
// has to look at many bytes, over a loopback connection with one loop. A Door can block the one
// thread that decompresses and parses them.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/testing/door.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/grpc/testing/loopback.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;
using testing::HasSubstr;

constexpr uint64_t kByteLimit = 64 << 20;

// `random` bytes that cannot be compressed, and then `zeros` that can, as floats. The client sends
// a message uncompressed if that is shorter.
ModelInferRequest Request(size_t random, size_t zeros, const std::string& id = "") {
  std::mt19937 generator(7);
  std::vector<float> values((random + zeros) / sizeof(float));
  for (size_t i = 0; i < random / sizeof(float); ++i) {
    const uint32_t bits = generator();
    std::memcpy(&values[i], &bits, sizeof(bits));
  }
  ModelInferRequest request = Loopback::EchoRequest("echo", values);
  request.set_id(id);
  return request;
}

// `values` as the typed contents of a request.
ModelInferRequest Typed(const std::vector<float>& values, const std::string& id = "") {
  ModelInferRequest request = Loopback::EchoRequest("echo", values);
  request.clear_raw_input_contents();
  request.set_id(id);
  auto* const contents = request.mutable_inputs(0)->mutable_contents()->mutable_fp32_contents();
  contents->Add(values.begin(), values.end());
  return request;
}

// So many of them that they are too many to be copied on the loop's thread.
ModelInferRequest ManyTyped(const std::string& id = "") {
  return Typed(std::vector<float>(500'000, 1.5), id);
}

// A request with 40,000 fields that are not known, in the middle of it.
ModelInferRequest ManyFields() {
  std::string bytes = Loopback::EchoRequest("echo", {1, 2}).SerializeAsString();
  for (int i = 0; i < 40'000; ++i) bytes += "\x78\x01";
  ModelInferRequest second;
  second.set_id("fields");
  ModelInferRequest request;
  EXPECT_TRUE(request.ParseFromString(bytes + second.SerializeAsString()));
  return request;
}

// A call on a thread of its own.
class Call {
 public:
  Call(
      Loopback* loopback, ModelInferRequest request,
      std::chrono::system_clock::time_point deadline = std::chrono::system_clock::time_point::max())
      : request_(std::move(request)) {
    if (request_.raw_input_contents_size() > 0) {
      context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    }
    context_.set_deadline(deadline);
    status_ = std::async(std::launch::async, [this, loopback] {
      return loopback->stub()->ModelInfer(&context_, request_, &response_);
    });
  }
  void Cancel() { context_.TryCancel(); }
  bool answered() { return status_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  grpc::Status Status() { return status_.get(); }
  bool IsEcho() const {
    if (response_.raw_output_contents_size() != 1) return false;
    if (request_.raw_input_contents_size() > 0) {
      return response_.raw_output_contents(0) == request_.raw_input_contents(0);
    }
    const auto& sent = request_.inputs(0).contents().fp32_contents();
    return response_.raw_output_contents(0) ==
           FloatBytes(std::vector<float>(sent.begin(), sent.end()));
  }

 private:
  grpc::ClientContext context_;
  const ModelInferRequest request_;
  ModelInferResponse response_;
  std::future<grpc::Status> status_;
};

// Reads the answers to the requests "a" to "d", after which the stream ends.
template <typename Stream>
void ExpectAnswersInOrder(Stream* stream) {
  ModelStreamInferResponse response;
  for (const char* id : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.error_message(), "");
    EXPECT_EQ(response.infer_response().id(), id);
  }
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

class GrpcLargeMessagesTest : public testing::Test {
 protected:
  // No test leaves anything behind.
  void TearDown() override {
    door_.Open();
    EXPECT_TRUE(loopback_.BecomesIdle());
  }

  static GrpcServerOptions OneLoop() {
    GrpcServerOptions options;
    options.infer_threads = 1;
    return options;
  }
  static ServerOptions Limited() {
    ServerOptions options;
    options.max_in_flight_bytes = kByteLimit;
    return options;
  }
  // From here on, no large message is decompressed.
  void CloseDoor() {
    ASSERT_TRUE(loopback_.executors().compression->TryRun([this] { door_.Pass(); }));
    door_.AwaitWaiting(1);
  }
  void FillQueue() {
    while (loopback_.executors().compression->TryRun([] {})) {
    }
  }
  // Returns when a large message waits and the loop has done what it had to do.
  void AwaitHeldBytes(uint64_t least) {
    ASSERT_TRUE(Eventually([&] { return loopback_.server()->in_flight_bytes()->used() >= least; }));
    AwaitLoop();
  }
  void AwaitLoop() {
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(loopback_.Infer(Loopback::EchoRequest("probe", {1})).ok());
    }
  }
  // The number of executed requests of model `echo`.
  uint64_t Executed() {
    return (*loopback_.server()->Statistics("echo", 1))[0].statistics.inference_count;
  }

  Door door_;
  Loopback loopback_{{{"echo"}, {"probe"}}, Limited(), OneLoop()};
};

TEST_F(GrpcLargeMessagesTest, ComesBackAsItWasSent) {
  for (const auto& [random, zeros] : {std::pair(1 << 20, 1 << 20), std::pair(0, 4 << 20),
                                      std::pair(100 << 10, 4 << 10), std::pair(0, 256 << 10)}) {
    Call call(&loopback_, Request(random, zeros));
    const grpc::Status status = call.Status();
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(call.IsEcho()) << random << " " << zeros;
  }
}

TEST_F(GrpcLargeMessagesTest, LargeOnesAreNotDecompressedOnTheLoop) {
  CloseDoor();
  Call call(&loopback_, Request(100 << 10, 1 << 20));
  AwaitHeldBytes(100 << 10);
  EXPECT_LT(loopback_.server()->in_flight_bytes()->used(), 200u << 10);
  EXPECT_FALSE(call.answered());
  door_.Open();
  EXPECT_TRUE(call.Status().ok());
  EXPECT_TRUE(call.IsEcho());
}

TEST_F(GrpcLargeMessagesTest, ASmallOneThatBecomesLargeIsLeftToAnotherThread) {
  CloseDoor();
  Call call(&loopback_, Request(0, 4 << 20));
  AwaitHeldBytes(kMostInlinePlainBytes);
  EXPECT_LT(loopback_.server()->in_flight_bytes()->used(), 2 * kMostInlinePlainBytes);
  EXPECT_FALSE(call.answered());
  door_.Open();
  EXPECT_TRUE(call.Status().ok());
  EXPECT_TRUE(call.IsEcho());
}

TEST_F(GrpcLargeMessagesTest, SmallOnesAreTheLoopsOwn) {
  CloseDoor();
  for (const auto& [random, zeros] :
       {std::pair(60 << 10, 4 << 10), std::pair(10 << 10, 50 << 10)}) {
    Call call(&loopback_, Request(random, zeros));
    EXPECT_TRUE(call.Status().ok());
    EXPECT_TRUE(call.IsEcho());
  }
}

// Requests of a stream are begun in the order in which they were sent, and so are the answers of a
// model that is not decoupled. The end of the client's side is behind the last message, too.
TEST_F(GrpcLargeMessagesTest, NothingOfAStreamOvertakesALargeMessage) {
  CloseDoor();
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  const auto stream = loopback_.stub()->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(Request(300 << 10, 16 << 10, "a")));
  ASSERT_TRUE(stream->Write(Request(4, 0, "b")));
  ASSERT_TRUE(stream->Write(Request(0, 2 << 20, "c")));
  ASSERT_TRUE(stream->Write(Request(8, 0, "d")));
  ASSERT_TRUE(stream->WritesDone());
  AwaitHeldBytes(300 << 10);
  EXPECT_EQ(Executed(), 0u);
  door_.Open();
  ExpectAnswersInOrder(stream.get());
}

TEST_F(GrpcLargeMessagesTest, ACallThatIsCancelledMeanwhileIsNotExecuted) {
  CloseDoor();
  Call call(&loopback_, Request(1 << 20, 16 << 10));
  AwaitHeldBytes(1 << 20);
  call.Cancel();
  EXPECT_EQ(call.Status().error_code(), grpc::StatusCode::CANCELLED);
  AwaitLoop();
  door_.Open();
  EXPECT_TRUE(loopback_.BecomesIdle());
  EXPECT_EQ(Executed(), 0u);
}

TEST_F(GrpcLargeMessagesTest, ADeadlineThatComesMeanwhile) {
  CloseDoor();
  Call call(&loopback_, Request(1 << 20, 16 << 10),
            std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  EXPECT_EQ(call.Status().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  AwaitLoop();
  door_.Open();
  EXPECT_TRUE(loopback_.BecomesIdle());
  EXPECT_EQ(Executed(), 0u);
}

TEST_F(GrpcLargeMessagesTest, TooManyAtATimeAreRefused) {
  constexpr char kRefusal[] = "too many large compressed messages at a time: try again later";
  CloseDoor();
  FillQueue();
  Call call(&loopback_, Request(1 << 20, 16 << 10));
  const grpc::Status status = call.Status();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), kRefusal);
  // A stream goes on.
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  const auto stream = loopback_.stub()->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(Request(1 << 20, 16 << 10, "refused")));
  ASSERT_TRUE(stream->Write(Request(4, 0, "small")));
  ASSERT_TRUE(stream->WritesDone());
  ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.error_message(), kRefusal);
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.infer_response().id(), "small");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

// A bomb ends where the byte limit says, and takes nobody else's calls along.
TEST_F(GrpcLargeMessagesTest, ABombIsRefusedByTheByteLimit) {
  Call call(&loopback_, Request(0, kByteLimit + (1 << 20)));
  const grpc::Status status = call.Status();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("bytes"));
  AwaitLoop();
}

// ---- Messages that are large for protobuf.

TEST_F(GrpcLargeMessagesTest, WhatIsLargeForProtobufIsNotReadOnTheLoop) {
  CloseDoor();
  Call call(&loopback_, ManyTyped());
  AwaitHeldBytes(2'000'000);
  EXPECT_FALSE(call.answered());
  door_.Open();
  const grpc::Status status = call.Status();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(call.IsEcho());
}

TEST_F(GrpcLargeMessagesTest, NorAreManySmallFields) {
  CloseDoor();
  ModelInferRequest request = ManyFields();
  std::future<grpc::Status> status =
      std::async(std::launch::async, [this, &request] { return loopback_.Infer(request); });
  AwaitHeldBytes(80'000);
  EXPECT_EQ(status.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  door_.Open();
  EXPECT_TRUE(status.get().ok());
}

// Floats are only copied: ten thousands of them are the loop's own, and so are tensors in raw form,
// however long.
TEST_F(GrpcLargeMessagesTest, WhatIsQuickForProtobufIsTheLoopsOwn) {
  CloseDoor();
  Call floats(&loopback_, Typed(std::vector<float>(100'000, 0.5)));
  const grpc::Status status = floats.Status();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_TRUE(floats.IsEcho());
  EXPECT_TRUE(loopback_.Infer(Request(0, 8 << 20)).ok());
}

TEST_F(GrpcLargeMessagesTest, NothingOfAStreamOvertakesWhatIsReadElsewhere) {
  CloseDoor();
  grpc::ClientContext context;
  const auto stream = loopback_.stub()->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(ManyTyped("a")));
  ASSERT_TRUE(stream->Write(Request(4, 0, "b")));
  ASSERT_TRUE(stream->Write(ManyTyped("c")));
  ASSERT_TRUE(stream->Write(Typed({1, 2}, "d")));
  ASSERT_TRUE(stream->WritesDone());
  AwaitHeldBytes(2'000'000);
  EXPECT_EQ(Executed(), 0u);
  door_.Open();
  ExpectAnswersInOrder(stream.get());
}

// A mistake that is found elsewhere is told as it is anywhere, also to a stream, which goes on.
TEST_F(GrpcLargeMessagesTest, MistakesThatAreFoundElsewhere) {
  ModelInferRequest unknown = ManyTyped("unknown");
  unknown.set_model_name("nobody");
  ModelInferRequest mixed = ManyTyped("mixed");
  mixed.mutable_inputs(0)->set_datatype("INT32");
  EXPECT_EQ(loopback_.Infer(unknown).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(loopback_.Infer(mixed).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext context;
  const auto stream = loopback_.stub()->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(unknown));
  ASSERT_TRUE(stream->Write(mixed));
  ASSERT_TRUE(stream->Write(ManyTyped("good")));
  ASSERT_TRUE(stream->WritesDone());
  ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(response.error_message(), HasSubstr("nobody"));
  EXPECT_EQ(response.infer_response().id(), "unknown");
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_THAT(response.error_message(), HasSubstr("expected datatype 'INT32'"));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.infer_response().id(), "good");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(GrpcLargeMessagesTest, ACallThatEndsWhileItIsReadIsNotExecuted) {
  CloseDoor();
  Call cancelled(&loopback_, ManyTyped());
  AwaitHeldBytes(2'000'000);
  cancelled.Cancel();
  EXPECT_EQ(cancelled.Status().error_code(), grpc::StatusCode::CANCELLED);
  Call late(&loopback_, ManyTyped(),
            std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  EXPECT_EQ(late.Status().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  grpc::ClientContext context;
  const auto stream = loopback_.stub()->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(ManyTyped()));
  AwaitHeldBytes(2'000'000);
  context.TryCancel();
  EXPECT_FALSE(stream->Finish().ok());
  AwaitLoop();
  door_.Open();
  EXPECT_TRUE(loopback_.BecomesIdle());
  EXPECT_EQ(Executed(), 0u);
}

TEST_F(GrpcLargeMessagesTest, TooManyToBeReadAreRefused) {
  constexpr char kRefusal[] = "too many large messages at a time: try again later";
  CloseDoor();
  FillQueue();
  Call call(&loopback_, ManyTyped());
  const grpc::Status status = call.Status();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), kRefusal);
  grpc::ClientContext context;
  const auto stream = loopback_.stub()->ModelStreamInfer(&context);
  ASSERT_TRUE(stream->Write(ManyTyped()));
  ASSERT_TRUE(stream->Write(Request(4, 0, "small")));
  ASSERT_TRUE(stream->WritesDone());
  ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.error_message(), kRefusal);
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.infer_response().id(), "small");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

// What the message becomes is charged there as well.
TEST_F(GrpcLargeMessagesTest, ATreeIsRefusedByTheByteLimit) {
  std::string bytes = Loopback::EchoRequest("echo", {1}).SerializeAsString();
  for (int i = 0; i < 1'000'000; ++i) bytes += std::string("\x2a\x00", 2);  // inputs
  ModelInferRequest request;
  ASSERT_TRUE(request.ParseFromString(bytes));
  const grpc::Status status = loopback_.Infer(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("server limit 'in-flight bytes'"));
}

// The frontend stops while a message waits; what the other thread leaves finds no loop any more.
TEST_F(GrpcLargeMessagesTest, StoppingLeavesWhatWaitsBehind) {
  CloseDoor();
  Call call(&loopback_, Request(1 << 20, 16 << 10));
  Call typed(&loopback_, ManyTyped());
  AwaitHeldBytes((1 << 20) + 2'000'000);
  loopback_.grpc()->Stop(std::chrono::steady_clock::now());
  EXPECT_FALSE(call.Status().ok());
  EXPECT_FALSE(typed.Status().ok());
  door_.Open();
  EXPECT_TRUE(loopback_.BecomesIdle());
}

}  // namespace
}  // namespace nereid
