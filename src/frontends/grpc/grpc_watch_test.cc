// SPDX-License-Identifier: Apache-2.0
// grpc.health.v1.Health/Watch over a loopback connection.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "frontends/grpc/testing/loopback.h"
#include "health.grpc.pb.h"

namespace nereid {
namespace {

using health::v1::Health;
using health::v1::HealthCheckRequest;
using health::v1::HealthCheckResponse;

// One Watch of a client.
class Watch {
 public:
  explicit Watch(Loopback* loopback, const std::string& service = "")
      : stub_(Health::NewStub(loopback->channel())) {
    HealthCheckRequest request;
    request.set_service(service);
    reader_ = stub_->Watch(&context_, request);
  }

  // The next status; UNKNOWN, which the server never sends, once the call has ended.
  HealthCheckResponse::ServingStatus Next() {
    HealthCheckResponse response;
    return reader_->Read(&response) ? response.status() : HealthCheckResponse::UNKNOWN;
  }
  grpc::Status Finish() { return reader_->Finish(); }
  void Cancel() { context_.TryCancel(); }

 private:
  const std::unique_ptr<Health::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

void ExpectEndOfConnection(Watch* watch) {
  EXPECT_EQ(watch->Next(), HealthCheckResponse::UNKNOWN);
  const grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "the connection ends: watch over another one");
}

TEST(GrpcWatch, TellsTheStatusAtOnceAndEachChange) {
  ServerOptions options;
  options.control_mode = ModelControlMode::kExplicit;
  Loopback loopback({{"unwell", "testing", ModelParameterText("behaviour", "not_ready")}}, options);
  Watch watch(&loopback);
  Watch of_service(&loopback, "inference.GRPCInferenceService");
  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(of_service.Next(), HealthCheckResponse::SERVING);
  // With strict readiness, one model that is not ready is enough.
  ASSERT_TRUE(loopback.server()->LoadModel("unwell").ok());
  EXPECT_EQ(watch.Next(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(of_service.Next(), HealthCheckResponse::NOT_SERVING);
  ASSERT_TRUE(loopback.server()->UnloadModel("unwell").ok());
  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(of_service.Next(), HealthCheckResponse::SERVING);
  watch.Cancel();
  EXPECT_EQ(watch.Next(), HealthCheckResponse::UNKNOWN);
  EXPECT_EQ(watch.Finish().error_code(), grpc::StatusCode::CANCELLED);
}

// While it drains the server does not serve, but answers those who ask.
TEST(GrpcWatch, TellsThatTheServerDrains) {
  Loopback loopback({{"echo"}});
  Watch watch(&loopback);
  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);
  loopback.server()->Drain(std::chrono::steady_clock::now());
  EXPECT_EQ(watch.Next(), HealthCheckResponse::NOT_SERVING);
  Watch late(&loopback);
  EXPECT_EQ(late.Next(), HealthCheckResponse::NOT_SERVING);
  loopback.grpc()->Announce();
  ExpectEndOfConnection(&watch);
  ExpectEndOfConnection(&late);
}

TEST(GrpcWatch, AServiceThatIsNotKnownIsWatchedToo) {
  Loopback loopback({});
  Watch watch(&loopback, "nobody");
  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  Watch empty(&loopback);
  EXPECT_EQ(empty.Next(), HealthCheckResponse::SERVING);
  // Nothing else is told until the connection ends: not that the server does not serve, either.
  loopback.server()->Drain(std::chrono::steady_clock::now());
  EXPECT_EQ(empty.Next(), HealthCheckResponse::NOT_SERVING);
  loopback.grpc()->Announce();
  ExpectEndOfConnection(&watch);
}

TEST(GrpcWatch, EndsWithAConnectionThatWasToldToEnd) {
  Loopback loopback({});
  Watch watch(&loopback);
  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);
  loopback.grpc()->Announce();
  ExpectEndOfConnection(&watch);
  // The client takes another connection.
  Watch next(&loopback);
  EXPECT_EQ(next.Next(), HealthCheckResponse::SERVING);
}

TEST(GrpcWatch, IsNothingThatTheEndWaitsFor) {
  Loopback loopback({});
  Watch watch(&loopback);
  EXPECT_EQ(watch.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(loopback.grpc()->in_flight_calls(), 0);
  loopback.grpc()->Stop(TimePoint::max());
  ExpectEndOfConnection(&watch);
}

TEST(GrpcWatch, EndsAtItsDeadline) {
  Loopback loopback({});
  const std::unique_ptr<Health::Stub> stub = Health::NewStub(loopback.channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  const auto reader = stub->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  while (reader->Read(&response)) EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

}  // namespace
}  // namespace nereid
