// SPDX-License-Identifier: Apache-2.0
// Server reflection over a loopback connection.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "frontends/grpc/testing/loopback.h"
#include "reflection_v1.grpc.pb.h"
#include "reflection_v1alpha.grpc.pb.h"

namespace nereid {
namespace {

namespace v1 = reflection::v1;
namespace v1alpha = reflection::v1alpha;

// The client of one version of the protocol.
struct V1 {
  using Service = v1::ServerReflection;
  using Request = v1::ServerReflectionRequest;
  using Response = v1::ServerReflectionResponse;
};
struct V1Alpha {
  using Service = v1alpha::ServerReflection;
  using Request = v1alpha::ServerReflectionRequest;
  using Response = v1alpha::ServerReflectionResponse;
};

template <typename Version>
class GrpcReflectionTest : public testing::Test {
 protected:
  using Request = typename Version::Request;
  using Response = typename Version::Response;

  static Request ForSymbol(const std::string& name) {
    Request request;
    request.set_file_containing_symbol(name);
    return request;
  }

  Loopback loopback_{{}};
  std::unique_ptr<typename Version::Service::Stub> stub_ =
      Version::Service::NewStub(loopback_.channel());
  grpc::ClientContext context_;
};

using Versions = testing::Types<V1, V1Alpha>;
TYPED_TEST_SUITE(GrpcReflectionTest, Versions);

TYPED_TEST(GrpcReflectionTest, AnswersEachMessageAndEndsAfterTheLast) {
  const auto stream = this->stub_->ServerReflectionInfo(&this->context_);
  typename TypeParam::Request request;
  request.set_list_services("*");
  typename TypeParam::Response response;
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.list_services_response().service_size(), 4);
  ASSERT_TRUE(stream->Write(this->ForSymbol("nobody")));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(stream->Write(this->ForSymbol("inference.GRPCInferenceService")));
  ASSERT_TRUE(stream->WritesDone());
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.file_descriptor_response().file_descriptor_proto_size(), 2);
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TYPED_TEST(GrpcReflectionTest, ACallWithoutAMessage) {
  const auto stream = this->stub_->ServerReflectionInfo(&this->context_);
  ASSERT_TRUE(stream->WritesDone());
  typename TypeParam::Response response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

// Requests pile up, but not the answers; then all are answered, in order.
TYPED_TEST(GrpcReflectionTest, ARequestWaitsUntilTheClientHasReadEarlierAnswers) {
  constexpr int kRequests = 2000;
  const auto stream = this->stub_->ServerReflectionInfo(&this->context_);
  std::thread writer([&] {
    typename TypeParam::Request request = this->ForSymbol("inference.GRPCInferenceService");
    for (int i = 0; i < kRequests; ++i) {
      request.set_host(absl::StrCat(i));
      ASSERT_TRUE(stream->Write(request));
    }
    stream->WritesDone();
  });
  EXPECT_TRUE(
      Eventually([&] { return this->loopback_.server()->in_flight_bytes()->used() > 10'000; }));
  typename TypeParam::Response response;
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.valid_host(), absl::StrCat(i));
  }
  writer.join();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(this->loopback_.BecomesIdle());
}

TYPED_TEST(GrpcReflectionTest, AClientThatLeavesWhileRequestsWait) {
  const auto stream = this->stub_->ServerReflectionInfo(&this->context_);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(stream->Write(this->ForSymbol("inference.GRPCInferenceService")));
  }
  EXPECT_TRUE(Eventually([&] { return this->loopback_.server()->in_flight_bytes()->used() > 0; }));
  this->context_.TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(this->loopback_.BecomesIdle());
}

TYPED_TEST(GrpcReflectionTest, ARequestThatIsTooLong) {
  const auto stream = this->stub_->ServerReflectionInfo(&this->context_);
  ASSERT_TRUE(stream->Write(this->ForSymbol(std::string(100'000, 'x'))));
  typename TypeParam::Response response;
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(),
              testing::HasSubstr("ServerReflectionInfo' takes messages of at most 65536 bytes"));
}

// An open call does not keep the server from ending.
TYPED_TEST(GrpcReflectionTest, EndsWithItsConnection) {
  const auto stream = this->stub_->ServerReflectionInfo(&this->context_);
  typename TypeParam::Response response;
  ASSERT_TRUE(stream->Write(this->ForSymbol("nobody")));
  ASSERT_TRUE(stream->Read(&response));
  this->loopback_.grpc()->Announce();
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the connection ends: ask again over another one");
}

}  // namespace
}  // namespace nereid
