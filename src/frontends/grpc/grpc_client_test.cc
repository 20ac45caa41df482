// SPDX-License-Identifier: Apache-2.0
// What the client of gRPC's library does on its own account: compression, metadata, a new
// connection for one that was announced to end. Over a loopback connection.
#include <absl/strings/str_cat.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/grpc/testing/loopback.h"

// Of the library, for the tests of its interop suite: the flags of the message that came last.
uint32_t grpc_call_test_only_get_message_flags(grpc_call* call);

namespace grpc::testing {

// The library lets a class of this name look at the call.
class InteropClientContextInspector {
 public:
  static bool LastMessageWasCompressed(const ClientContext& context) {
    constexpr uint32_t kWasCompressed = 0x40000000u;
    return (grpc_call_test_only_get_message_flags(context.call_) & kWasCompressed) != 0;
  }
};

}  // namespace grpc::testing

namespace nereid {
namespace {

using grpc::testing::InteropClientContextInspector;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;

constexpr grpc_compression_algorithm kAlgorithms[] = {GRPC_COMPRESS_NONE, GRPC_COMPRESS_DEFLATE,
                                                      GRPC_COMPRESS_GZIP};

ModelInferRequest LongRequest() {
  return Loopback::EchoRequest("echo", std::vector<float>(50'000, 1.5f));
}

GrpcServerOptions Compressing(GrpcCompression level) {
  GrpcServerOptions options;
  options.response_compression = level;
  return options;
}

// A client that tells the server that it can read no compressed message.
std::unique_ptr<inference::GRPCInferenceService::Stub> PlainClient(Loopback* loopback) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
  return inference::GRPCInferenceService::NewStub(
      grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", loopback->grpc()->port()),
                                grpc::InsecureChannelCredentials(), arguments));
}

TEST(GrpcClientTest, MessagesCompressedBothWays) {
  const ModelInferRequest request = LongRequest();
  for (const GrpcCompression level : {GrpcCompression::kNone, GrpcCompression::kLow,
                                      GrpcCompression::kMedium, GrpcCompression::kHigh}) {
    Loopback loopback({{"echo"}}, {}, Compressing(level));
    for (const grpc_compression_algorithm algorithm : kAlgorithms) {
      grpc::ClientContext context;
      context.set_compression_algorithm(algorithm);
      ModelInferResponse response;
      const grpc::Status status = loopback.stub()->ModelInfer(&context, request, &response);
      ASSERT_TRUE(status.ok()) << status.error_message();
      EXPECT_TRUE(response.raw_output_contents(0) == request.raw_input_contents(0));
      EXPECT_EQ(InteropClientContextInspector::LastMessageWasCompressed(context),
                level != GrpcCompression::kNone);
    }
  }
}

TEST(GrpcClientTest, StreamsCompressedBothWays) {
  Loopback loopback({{"echo"}}, {}, Compressing(GrpcCompression::kHigh));
  const ModelInferRequest request = LongRequest();
  for (const grpc_compression_algorithm algorithm : kAlgorithms) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    const auto stream = loopback.stub()->ModelStreamInfer(&context);
    for (int i = 0; i < 3; ++i) {
      // Of a stream that is compressed, single messages may be sent as they are.
      grpc::WriteOptions options;
      if (i == 1) options.set_no_compression();
      ASSERT_TRUE(stream->Write(request, options));
      ModelStreamInferResponse response;
      ASSERT_TRUE(stream->Read(&response));
      EXPECT_EQ(response.error_message(), "");
      EXPECT_TRUE(response.infer_response().raw_output_contents(0) ==
                  request.raw_input_contents(0));
      EXPECT_TRUE(InteropClientContextInspector::LastMessageWasCompressed(context));
    }
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  }
}

TEST(GrpcClientTest, AClientThatCannotReadCompressedMessagesGetsNone) {
  Loopback loopback({{"echo"}}, {}, Compressing(GrpcCompression::kHigh));
  const auto stub = PlainClient(&loopback);
  grpc::ClientContext context;
  ModelInferResponse response;
  const grpc::Status status = stub->ModelInfer(&context, LongRequest(), &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_FALSE(InteropClientContextInspector::LastMessageWasCompressed(context));
}

TEST(GrpcClientTest, MetadataOfAnyKind) {
  Loopback loopback({{"echo"}});
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  grpc::ClientContext context;
  context.AddMetadata("any-bin", bytes);
  context.AddMetadata("any-bin", "");
  context.AddMetadata("empty", "");
  context.AddMetadata("text", " a, b;\"c\" ~");
  context.AddMetadata("long", std::string(20'000, 'x'));
  for (int i = 0; i < 100; ++i) context.AddMetadata(absl::StrCat("many-", i), "x");
  ModelInferResponse response;
  const grpc::Status status =
      loopback.stub()->ModelInfer(&context, Loopback::EchoRequest("echo", {1}), &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST(GrpcClientTest, MetadataBeyondTheLimitFailsOnlyItsCall) {
  Loopback loopback({{"echo"}});
  grpc::ClientContext context;
  context.AddMetadata("long", std::string(100'000, 'x'));
  ModelInferResponse response;
  EXPECT_FALSE(
      loopback.stub()->ModelInfer(&context, Loopback::EchoRequest("echo", {1}), &response).ok());
  EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", {1})).ok());
}

TEST(GrpcClientTest, ACallThatSurvivesTheAnnouncementAndOthersOnANewConnection) {
  Loopback loopback({{"echo"}});
  grpc::ClientContext context;
  const auto stream = loopback.stub()->ModelStreamInfer(&context);
  ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Write(Loopback::EchoRequest("echo", {1})));
  ASSERT_TRUE(stream->Read(&response));
  loopback.grpc()->Announce();
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", {2})).ok());
    return loopback.grpc()->connection_count() == 2;
  }));
  ASSERT_TRUE(stream->Write(Loopback::EchoRequest("echo", {3})));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.infer_response().raw_output_contents(0), FloatBytes({3}));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(Eventually([&] { return loopback.grpc()->connection_count() == 1; }));
}

}  // namespace
}  // namespace nereid
