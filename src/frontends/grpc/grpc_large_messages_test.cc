// Compressed messages that are too large for the loop's thread, over a loopback connection with one
// loop. A Door can block the one thread that decompresses them.
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

// A call whose message is compressed, on a thread of its own.
class Call {
 public:
  Call(
      Loopback* loopback, ModelInferRequest request,
      std::chrono::system_clock::time_point deadline = std::chrono::system_clock::time_point::max())
      : request_(std::move(request)) {
    context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    context_.set_deadline(deadline);
    status_ = std::async(std::launch::async, [this, loopback] {
      return loopback->stub()->ModelInfer(&context_, request_, &response_);
    });
  }
  void Cancel() { context_.TryCancel(); }
  bool answered() { return status_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  grpc::Status Status() { return status_.get(); }
  bool IsEcho() const {
    return response_.raw_output_contents_size() == 1 &&
           response_.raw_output_contents(0) == request_.raw_input_contents(0);
  }

 private:
  grpc::ClientContext context_;
  const ModelInferRequest request_;
  ModelInferResponse response_;
  std::future<grpc::Status> status_;
};

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
  ModelStreamInferResponse response;
  for (const char* id : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.error_message(), "");
    EXPECT_EQ(response.infer_response().id(), id);
  }
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
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

// The frontend stops while a message waits; what the other thread leaves finds no loop any more.
TEST_F(GrpcLargeMessagesTest, StoppingLeavesWhatWaitsBehind) {
  CloseDoor();
  Call call(&loopback_, Request(1 << 20, 16 << 10));
  AwaitHeldBytes(1 << 20);
  loopback_.grpc()->Stop(std::chrono::steady_clock::now());
  EXPECT_FALSE(call.Status().ok());
  door_.Open();
  EXPECT_TRUE(loopback_.BecomesIdle());
}

}  // namespace
}  // namespace nereid
