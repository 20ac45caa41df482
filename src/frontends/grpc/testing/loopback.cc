// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/testing/loopback.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

namespace nereid {
namespace {

void WriteModel(const std::filesystem::path& repository, const TestModel& model) {
  std::filesystem::create_directories(repository / model.name / "1");
  std::ofstream(repository / model.name / "config.pbtxt")
      << "backend: \"" << model.backend << "\"\n"
      << model.tensors << model.more;
}

}  // namespace

std::string ModelParameterText(absl::string_view key, absl::string_view value) {
  return absl::StrCat("parameters { key: \"", key, "\" value { string_value: \"", value,
                      "\" } }\n");
}

Loopback::Loopback(const std::vector<TestModel>& models, ServerOptions options,
                   GrpcServerOptions grpc_options) {
  std::string folder = testing::TempDir() + "grpc_test.XXXXXX";
  repository_ = mkdtemp(folder.data());
  for (const TestModel& model : models) WriteModel(repository_, model);
  options.model_repositories = {repository_.string()};
  options.backend_directory = NEREID_TEST_BACKENDS;
  absl::StatusOr<Server::Owner> server = Server::Create(options);
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  grpc_options.address = "127.0.0.1";
  absl::StatusOr<std::unique_ptr<GrpcServer>> grpc =
      GrpcServer::Start(grpc_options, server_.get(), executors());
  EXPECT_TRUE(grpc.ok()) << grpc.status();
  grpc_ = *std::move(grpc);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  channel_ = grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", grpc_->port()),
                                       grpc::InsecureChannelCredentials(), arguments);
  stub_ = inference::GRPCInferenceService::NewStub(channel_);
}

Loopback::~Loopback() {
  grpc_.reset();
  EXPECT_TRUE(admin_.End(TimePoint::max()));
  EXPECT_TRUE(compression_.End(TimePoint::max()));
  const absl::Status stopped = server_->Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
  server_.reset();
  std::filesystem::remove_all(repository_);
}

inference::ModelInferRequest Loopback::EchoRequest(const std::string& model,
                                                   const std::vector<float>& values) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  inference::ModelInferRequest::InferInputTensor* const input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("FP32");
  input->add_shape(static_cast<int64_t>(values.size()));
  request.add_raw_input_contents(FloatBytes(values));
  return request;
}

grpc::Status Loopback::Infer(const inference::ModelInferRequest& request,
                             inference::ModelInferResponse* response) {
  grpc::ClientContext context;
  return stub_->ModelInfer(&context, request, response);
}

grpc::Status Loopback::Infer(const inference::ModelInferRequest& request) {
  inference::ModelInferResponse response;
  return Infer(request, &response);
}

bool Loopback::BecomesIdle() {
  return Eventually(
      [this] { return grpc_->in_flight_calls() == 0 && server_->in_flight_bytes()->used() == 0; });
}

bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string FloatBytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

}  // namespace nereid
