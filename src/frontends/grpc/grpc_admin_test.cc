// SPDX-License-Identifier: Apache-2.0
// Administration over a loopback connection, with a real server.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontends/grpc/reports_to_proto.h"
#include "frontends/grpc/testing/loopback.h"
#include "frontends/grpc/testing/methods.h"
#include "health.grpc.pb.h"
#include "infer/request_cost.h"
#include "public/model_config.pb.h"

namespace nereid {
namespace {

using health::v1::Health;
using health::v1::HealthCheckRequest;
using health::v1::HealthCheckResponse;
using testing::ElementsAre;

class GrpcAdminTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    loopback_ = new Loopback({{"batched", "identity", "max_batch_size: 4"}, {"echo"}});
  }
  static void TearDownTestSuite() {
    delete loopback_;
    loopback_ = nullptr;
  }

  // Calls one method of the stub.
  template <typename Request, typename Response>
  static grpc::Status Call(grpc::Status (inference::GRPCInferenceService::Stub::*method)(
                               grpc::ClientContext*, const Request&, Response*),
                           const Request& request, Response* response) {
    grpc::ClientContext context;
    return (loopback_->stub()->*method)(&context, request, response);
  }

  static Loopback* loopback_;
};

Loopback* GrpcAdminTest::loopback_ = nullptr;

using Stub = inference::GRPCInferenceService::Stub;

GrpcServerOptions OneQueue() {
  GrpcServerOptions options;
  options.infer_threads = 1;
  return options;
}

TEST_F(GrpcAdminTest, Health) {
  inference::ServerLiveResponse live;
  ASSERT_TRUE(Call(&Stub::ServerLive, inference::ServerLiveRequest(), &live).ok());
  EXPECT_TRUE(live.live());
  inference::ServerReadyResponse ready;
  ASSERT_TRUE(Call(&Stub::ServerReady, inference::ServerReadyRequest(), &ready).ok());
  EXPECT_TRUE(ready.ready());
  HealthCheckResponse health;
  grpc::ClientContext context;
  ASSERT_TRUE(
      Health::NewStub(loopback_->channel())->Check(&context, HealthCheckRequest(), &health).ok());
  EXPECT_EQ(health.status(), HealthCheckResponse::SERVING);
}

TEST(ReportsToProtoTest, AllStringsOfAnAnswerAreUtf8) {
  const std::string bad = "caf\xe9", good = "caf\xef\xbf\xbd";
  inference::RepositoryIndexResponse index;
  ToProto(std::vector<IndexEntry>{{bad, 1, "READY", bad}, {"plain", 1, "READY", ""}}, &index);
  MakeUtf8(&index);
  EXPECT_EQ(index.models(0).name(), good);
  EXPECT_EQ(index.models(0).reason(), good);
  EXPECT_EQ(index.models(1).name(), "plain");

  inference::SystemSharedMemoryStatusResponse memory;
  ToProto(std::vector<SharedMemoryRegion>{{bad, bad, 0, 1}}, &memory);
  MakeUtf8(&memory);
  ASSERT_EQ(memory.regions().count(good), 1u);
  EXPECT_EQ(memory.regions().at(good).key(), good);

  inference::ServerMetadataResponse server;
  server.add_extensions(bad);
  MakeUtf8(&server);
  EXPECT_EQ(server.extensions(0), good);
}

TEST_F(GrpcAdminTest, ModelReady) {
  inference::ModelReadyRequest request;
  inference::ModelReadyResponse response;
  request.set_name("echo");
  request.set_version("1");
  ASSERT_TRUE(Call(&Stub::ModelReady, request, &response).ok());
  EXPECT_TRUE(response.ready());
  request.set_name("nobody");
  ASSERT_TRUE(Call(&Stub::ModelReady, request, &response).ok());
  EXPECT_FALSE(response.ready());
  request.set_version("x");
  EXPECT_EQ(Call(&Stub::ModelReady, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(GrpcAdminTest, Metadata) {
  inference::ServerMetadataResponse server;
  ASSERT_TRUE(Call(&Stub::ServerMetadata, inference::ServerMetadataRequest(), &server).ok());
  EXPECT_EQ(server.name(), loopback_->server()->Metadata().name);
  EXPECT_EQ(server.extensions_size(),
            static_cast<int>(loopback_->server()->Metadata().extensions.size()));
  inference::ModelMetadataRequest request;
  request.set_name("batched");
  inference::ModelMetadataResponse model;
  ASSERT_TRUE(Call(&Stub::ModelMetadata, request, &model).ok());
  EXPECT_EQ(model.name(), "batched");
  EXPECT_THAT(model.versions(), ElementsAre("1"));
  ASSERT_EQ(model.inputs_size(), 1);
  EXPECT_EQ(model.inputs(0).datatype(), "FP32");
  EXPECT_THAT(model.inputs(0).shape(), ElementsAre(-1, -1));
  EXPECT_EQ(model.outputs(0).name(), "OUTPUT0");
}

TEST_F(GrpcAdminTest, ModelConfig) {
  inference::ModelConfigRequest request;
  request.set_name("batched");
  inference::ModelConfigResponse response;
  const grpc::Status status = Call(&Stub::ModelConfig, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ::inference::ModelConfig config;
  ASSERT_TRUE(config.ParseFromString(response.config()));
  EXPECT_EQ(config.name(), "batched");
  EXPECT_EQ(config.max_batch_size(), 4);
  EXPECT_THAT(config.input(0).dims(), ElementsAre(-1));
  EXPECT_EQ(config.version_policy().latest().num_versions(), 1u);
}

TEST_F(GrpcAdminTest, Statistics) {
  ASSERT_TRUE(loopback_->Infer(Loopback::EchoRequest("echo", {1})).ok());
  inference::ModelStatisticsRequest request;
  request.set_name("echo");
  inference::ModelStatisticsResponse response;
  // Statistics of a request are reported after its answer.
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(Call(&Stub::ModelStatistics, request, &response).ok());
    return response.model_stats(0).inference_count() == 1;
  }));
  const inference::ModelStatistics& statistics = response.model_stats(0);
  EXPECT_EQ(statistics.name(), "echo");
  EXPECT_EQ(statistics.version(), "1");
  EXPECT_GT(statistics.last_inference(), 0u);
  EXPECT_EQ(statistics.execution_count(), 1u);
  EXPECT_EQ(statistics.inference_stats().success().count(), 1u);
  EXPECT_TRUE(statistics.inference_stats().has_cache_hit());
  ASSERT_EQ(statistics.batch_stats_size(), 1);
  EXPECT_EQ(statistics.batch_stats(0).batch_size(), 1u);
  EXPECT_EQ(statistics.batch_stats(0).compute_infer().count(), 1u);
}

TEST_F(GrpcAdminTest, Index) {
  inference::RepositoryIndexRequest request;
  inference::RepositoryIndexResponse response;
  ASSERT_TRUE(Call(&Stub::RepositoryIndex, request, &response).ok());
  ASSERT_EQ(response.models_size(), 2);
  EXPECT_EQ(response.models(0).name(), "batched");
  EXPECT_EQ(response.models(0).version(), "1");
  EXPECT_EQ(response.models(0).state(), "READY");
  request.set_repository_name("r");
  const grpc::Status status = Call(&Stub::RepositoryIndex, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status.error_message(), "'repository_name' specification is not supported");
}

TEST_F(GrpcAdminTest, ErrorsOfUnknownModels) {
  inference::ModelMetadataRequest request;
  request.set_name("nobody");
  inference::ModelMetadataResponse response;
  grpc::Status status = Call(&Stub::ModelMetadata, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "Request for unknown model: 'nobody' is not found");
}

TEST_F(GrpcAdminTest, LogSettings) {
  inference::LogSettingsRequest request;
  inference::LogSettingsResponse response;
  (*request.mutable_settings())["log_verbose_level"].set_uint32_param(1);
  EXPECT_TRUE(Call(&Stub::LogSettings, request, &response).ok());
  EXPECT_EQ(response.settings().at("log_verbose_level").uint32_param(), 1u);
  EXPECT_TRUE(response.settings().at("log_info").bool_param());
  EXPECT_EQ(response.settings().at("log_format").string_param(), "default");
  EXPECT_EQ(response.settings().at("log_file").string_param(), "");
  (*request.mutable_settings())["log_verbose_level"].set_uint32_param(0);
  (*request.mutable_settings())["log_info"].set_string_param("yes");
  const grpc::Status status = Call(&Stub::LogSettings, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "expect boolean for 'log_info'");
  EXPECT_TRUE(Log::Configure(LogSettings()).ok());
}

TEST_F(GrpcAdminTest, AdministrationThatHangsHoldsUpNobodyElse) {
  Loopback loopback({{"echo"}}, {}, OneQueue());
  Mutex mu;
  CondVar changed;
  bool open = false;
  // The executor has no thread left.
  for (int i = 0; i < ThreadPoolOptions().most_threads; ++i) {
    ASSERT_TRUE(loopback.executors().admin->TryRun([&] {
      MutexLock lock(&mu);
      while (!open) changed.Wait(&mu);
    }));
  }
  grpc::GenericStub generic(loopback.channel());
  const grpc::Slice empty;
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer index;
  grpc::ClientContext index_context;
  std::promise<grpc::Status> answered;
  generic.UnaryCall(&index_context, "/inference.GRPCInferenceService/RepositoryIndex",
                    grpc::StubOptions(), &request, &index,
                    [&](grpc::Status status) { answered.set_value(std::move(status)); });
  std::future<grpc::Status> answer = answered.get_future();

  inference::ServerReadyResponse ready;
  grpc::ClientContext ready_context;
  ASSERT_TRUE(
      loopback.stub()->ServerReady(&ready_context, inference::ServerReadyRequest(), &ready).ok());
  EXPECT_TRUE(ready.ready());
  HealthCheckResponse health;
  grpc::ClientContext health_context;
  ASSERT_TRUE(Health::NewStub(loopback.channel())
                  ->Check(&health_context, HealthCheckRequest(), &health)
                  .ok());
  EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", {1})).ok());
  {
    MutexLock lock(&mu);
    open = true;
    changed.NotifyAll();
  }
  EXPECT_TRUE(answer.get().ok());
}

// Every method of the protocol is either there or known to be missing.
TEST_F(GrpcAdminTest, EveryMethodOfTheProtocolIsKnown) {
  const auto* service =
      inference::ModelInferRequest::descriptor()->file()->FindServiceByName("GRPCInferenceService");
  ASSERT_NE(service, nullptr);
  grpc::GenericStub stub(loopback_->channel());
  for (int i = 0; i < service->method_count(); ++i) {
    const std::string name = service->method(i)->name();
    grpc::ClientContext context;
    const grpc::ByteBuffer request = [] {
      const grpc::Slice empty;
      return grpc::ByteBuffer(&empty, 1);
    }();
    grpc::ByteBuffer response;
    std::promise<grpc::Status> answered;
    stub.UnaryCall(&context, "/inference.GRPCInferenceService/" + name, grpc::StubOptions(),
                   &request, &response,
                   [&](grpc::Status status) { answered.set_value(std::move(status)); });
    const grpc::Status status = answered.get_future().get();
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
      EXPECT_THAT(status.error_message(),
                  ::testing::AnyOf(name + " is not supported by this server yet",
                                   ::testing::StartsWith("Client shared memory is disabled.")));
    }
  }
}

// A method of the protocol, called with any bytes.
grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                     const std::string& message) {
  grpc::GenericStub stub(channel);
  const grpc::Slice slice(message);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  std::promise<grpc::Status> answered;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                 [&](grpc::Status status) { answered.set_value(std::move(status)); });
  return answered.get_future().get();
}

// A message of `size` bytes, from 4 to some millions: one unknown field.
std::string Unknown(size_t size) {
  const size_t length = size - 4;
  std::string message = "\x7a";
  message += static_cast<char>((length & 0x7f) | 0x80);
  message += static_cast<char>((length >> 7 & 0x7f) | 0x80);
  message += static_cast<char>(length >> 14);
  return message + std::string(length, 'x');
}

TEST_F(GrpcAdminTest, EveryMethodLimitsItsMessages) {
  const size_t small = 64 << 10;
  const std::map<std::string, size_t> longest = {
      {"/inference.GRPCInferenceService/ServerLive", small},
      {"/inference.GRPCInferenceService/ServerReady", small},
      {"/inference.GRPCInferenceService/ModelReady", small},
      {"/inference.GRPCInferenceService/ServerMetadata", small},
      {"/inference.GRPCInferenceService/ModelInfer", 0},
      {"/inference.GRPCInferenceService/ModelStreamInfer", 0},
      {"/inference.GRPCInferenceService/RepositoryModelLoad", 0},
      {"/tensorflow.serving.PredictionService/Predict", 0},
      {"/tensorflow.serving.PredictionService/Classify", 0},
      {"/tensorflow.serving.PredictionService/Regress", 0},
      {"/grpc.health.v1.Health/Check", small},
      {"/grpc.health.v1.Health/Watch", small},
      {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", small},
      {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", small},
  };
  GrpcServerOptions options;
  options.max_admin_body_bytes = 100'000;
  Loopback of_inference({{"echo"}}, {}, options);
  options.api = GrpcApi::kTensorFlowServing;
  Loopback of_serving({{"echo"}}, {}, options);
  for (const google::protobuf::MethodDescriptor* descriptor : AllMethods()) {
    const std::string method = PathOf(*descriptor);
    Loopback& loopback = IsOfServing(method) ? of_serving : of_inference;
    SCOPED_TRACE(method);
    const auto other = longest.find(method);
    const size_t limit = other == longest.end() ? 100'000 : other->second;
    // Watch would go on.
    if (method != "/grpc.health.v1.Health/Watch") {
      const size_t size = limit == 0 ? 1'900'000 : limit;
      EXPECT_NE(CallRaw(loopback.channel(), method, Unknown(size)).error_code(),
                grpc::StatusCode::RESOURCE_EXHAUSTED);
    }
    if (limit == 0) continue;
    const grpc::Status status = CallRaw(loopback.channel(), method, Unknown(limit + 1));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(status.error_message(),
              absl::StrCat("Received message larger than max (", limit + 1, " vs. ", limit, "): '",
                           method, "' takes messages of at most ", limit, " bytes",
                           limit == small ? "" : ", which --max-admin-body-bytes sets"));
  }
}

// What a compressed message becomes obeys the same limit.
TEST_F(GrpcAdminTest, CompressionDoesNotGoRoundTheLimit) {
  inference::TraceSettingRequest request;
  (*request.mutable_settings())["trace_level"].add_value(std::string(2 << 20, 'x'));
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  inference::TraceSettingResponse response;
  const grpc::Status status = loopback_->stub()->TraceSetting(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(),
              ::testing::AllOf(::testing::HasSubstr("TraceSetting' takes messages of at most"),
                               ::testing::HasSubstr("--max-admin-body-bytes")));
}

// The memory that a message becomes is charged before it is parsed, whichever method it is for.
TEST_F(GrpcAdminTest, EveryMethodPaysForWhatItsMessageBecomes) {
  ServerOptions limited;
  limited.max_in_flight_bytes = 4 << 20;
  Loopback of_inference({{"echo"}}, limited);
  GrpcServerOptions options;
  options.api = GrpcApi::kTensorFlowServing;
  Loopback of_serving({{"echo"}}, limited, options);
  std::string small, large;  // unknown fields of two bytes
  for (int i = 0; i < 30'000; ++i) small += "\x78\x01";
  for (int i = 0; i < 500'000; ++i) large += "\x78\x01";
  for (const google::protobuf::MethodDescriptor* descriptor : AllMethods()) {
    const std::string method = PathOf(*descriptor);
    Loopback& loopback = IsOfServing(method) ? of_serving : of_inference;
    SCOPED_TRACE(method);
    if (method == "/grpc.health.v1.Health/Watch") continue;  // would go on
    EXPECT_THAT(CallRaw(loopback.channel(), method, small).error_message(),
                ::testing::Not(::testing::HasSubstr("in-flight bytes")));
    const grpc::Status status = CallRaw(loopback.channel(), method, large);
    if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED) continue;
    if (method == "/inference.GRPCInferenceService/ModelStreamInfer") continue;  // says it inside
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr("in-flight bytes"));
  }
  EXPECT_TRUE(of_inference.BecomesIdle());
  EXPECT_TRUE(of_serving.BecomesIdle());
}

// The many small objects of a request for administration: refused with a sentence.
TEST_F(GrpcAdminTest, ATraceSettingOfManyEntries) {
  std::string values;
  for (int i = 0; i < 400'000; ++i) values += std::string("\x0a\x00", 2);
  inference::TraceSettingRequest request;
  ASSERT_TRUE((*request.mutable_settings())["trace_level"].ParseFromString(values));
  ServerOptions limited;
  limited.max_in_flight_bytes = 16 << 20;
  Loopback loopback({{"echo"}}, limited);
  inference::TraceSettingResponse response;
  grpc::ClientContext context;
  const grpc::Status status = loopback.stub()->TraceSetting(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("server limit 'in-flight bytes'"));
  EXPECT_TRUE(loopback.BecomesIdle());
}

// ---- What calls and answers cost.

TEST_F(GrpcAdminTest, ALargeAnswerIsPaidFor) {
  ServerOptions limited;
  limited.max_in_flight_bytes = 64 << 10;
  Loopback loopback({{"wordy", "identity", ModelParameterText("text", std::string(100'000, 'x'))}},
                    limited);
  inference::ModelConfigRequest request;
  request.set_name("wordy");
  inference::ModelConfigResponse response;
  grpc::ClientContext context;
  const grpc::Status status = loopback.stub()->ModelConfig(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), ::testing::HasSubstr("server limit 'in-flight bytes'"));
  EXPECT_TRUE(loopback.BecomesIdle());
}

// Each until its end, also calls that wait for what never comes.
TEST_F(GrpcAdminTest, OpenCallsArePaidFor) {
  Loopback loopback({{"echo"}});
  const auto used = [&] { return loopback.server()->in_flight_bytes()->used(); };
  const auto health = Health::NewStub(loopback.channel());
  grpc::ClientContext watch_context;
  const auto watch = health->Watch(&watch_context, HealthCheckRequest());
  HealthCheckResponse first;
  ASSERT_TRUE(watch->Read(&first));
  EXPECT_EQ(used(), kRequestCost);
  grpc::ClientContext stream_context;
  const auto stream = loopback.stub()->ModelStreamInfer(&stream_context);
  EXPECT_TRUE(Eventually([&] { return used() == 2 * kRequestCost; }));
  EXPECT_EQ(loopback.grpc()->in_flight_calls(), 0);
  watch_context.TryCancel();
  EXPECT_FALSE(watch->Finish().ok());
  EXPECT_TRUE(stream->WritesDone());
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

// Clients do not accept trailers of any length.
TEST_F(GrpcAdminTest, ALongErrorIsCut) {
  inference::ModelMetadataRequest request;
  request.set_name(std::string(100'000, 'n'));
  inference::ModelMetadataResponse response;
  const grpc::Status status = Call(&Stub::ModelMetadata, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(),
              ::testing::AllOf(::testing::StartsWith("Request for unknown model: 'nnn"),
                               ::testing::EndsWith("n... (100042 bytes in all)")));
  EXPECT_LT(status.error_message().size(), 5000u);
}

TEST_F(GrpcAdminTest, MethodsOfNoProtocol) {
  grpc::GenericStub stub(loopback_->channel());
  const grpc::Slice empty;
  const grpc::ByteBuffer request(&empty, 1);
  grpc::ByteBuffer response;
  grpc::ClientContext context;
  std::promise<grpc::Status> answered;
  stub.UnaryCall(&context, "/inference.GRPCInferenceService/Nonsense", grpc::StubOptions(),
                 &request, &response,
                 [&](grpc::Status status) { answered.set_value(std::move(status)); });
  const grpc::Status status = answered.get_future().get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status.error_message(),
            "this server has no method '/inference.GRPCInferenceService/Nonsense'");
}

}  // namespace
}  // namespace nereid
