// SPDX-License-Identifier: Apache-2.0
// A Server with models of the identity backend.
#include "server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/temp_dir.h"
#include "infer/response.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A model with an input and an output of four FP32 values. `more` is config.pbtxt text.
std::string IdentityConfig(const std::string& more = "") {
  return "backend: \"identity\"\n"
         "input { name: \"in\" data_type: TYPE_FP32 dims: [ 4 ] }\n"
         "output { name: \"out\" data_type: TYPE_FP32 dims: [ 4 ] }\n" +
         more + "\n";
}

constexpr char kBatched[] = "max_batch_size: 8";
constexpr char kBroken[] = "backend: \"nowhere\"";

class ServerTest : public ::testing::Test {
 protected:
  void AddModel(const std::string& name, const std::string& config,
                const std::vector<int>& versions = {1}) {
    dir_.Write(name + "/config.pbtxt", config);
    for (const int version : versions) {
      std::filesystem::create_directories(dir_.Path(name + "/" + std::to_string(version)));
    }
  }

  ServerOptions Options(ModelControlMode mode = ModelControlMode::kNone) {
    ServerOptions options;
    options.model_repositories = {dir_.path()};
    options.backend_directory = NEREID_TEST_BACKENDS;
    options.control_mode = mode;
    return options;
  }

  void Start(const ServerOptions& options) {
    auto server = Server::Create(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void StartExplicit(std::set<std::string> models = {}) {
    ServerOptions options = Options(ModelControlMode::kExplicit);
    options.startup_models = std::move(models);
    Start(options);
  }

  // A request with one vector of four values, or with a batch of `batch` of them.
  std::unique_ptr<TestRequest> Request(const std::string& model, int64_t batch = 0) {
    auto found = server_->FindModel(model, kLatestVersion);
    EXPECT_TRUE(found.ok()) << found.status();
    auto request = std::make_unique<TestRequest>(*found);
    const Shape shape = batch > 0 ? Shape{batch, 4} : Shape{4};
    std::string bytes(static_cast<size_t>(16 * std::max<int64_t>(1, batch)), '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
    request->Input("in", DataType::kFp32, shape, bytes);
    return request;
  }

  // Runs `request` and returns the bytes of its only output.
  std::string Run(TestRequest& request) {
    const absl::Status issued = server_->Infer(request.get());
    EXPECT_TRUE(issued.ok()) << issued;
    request.WaitDone();
    EXPECT_TRUE(request.final_status().ok()) << request.final_status();
    const auto& outputs = request.answer(0).response->outputs();
    if (outputs.size() != 1) return "not one output";
    return std::string(static_cast<const char*>(outputs[0].buffer().base),
                       outputs[0].buffer().byte_size);
  }

  // Sends a request of sequence `id` and returns its final status. `client`: as if the request came
  // over the network.
  absl::Status Send(uint64_t id, uint32_t flags, bool client = false,
                    const std::string& model = "m") {
    std::unique_ptr<TestRequest> request = Request(model);
    (*request)->set_correlation_id(CorrelationId(id));
    (*request)->set_flags(flags);
    absl::Status issued =
        client ? server_->InferForClient(request->get()) : server_->Infer(request->get());
    if (!issued.ok()) return issued;
    request->WaitDone();
    return request->final_status();
  }

  std::string StartError(const ServerOptions& options) {
    return std::string(Server::Create(options).status().message());
  }

  TempDir dir_;
  Server::Owner server_;
};

// ---- Start

TEST_F(ServerTest, WithoutItsRepositoryItMayStayAndSayWhoItIs) {
  ServerOptions options = Options(ModelControlMode::kExplicit);
  options.model_repositories = {dir_.Path("nowhere")};
  EXPECT_THAT(StartError(options), StartsWith("repository path is not a valid directory: "));
  options.exit_on_error = false;
  Start(options);
  EXPECT_FALSE(*server_->IsLive());
  EXPECT_FALSE(*server_->IsReady());
  EXPECT_EQ(server_->Metadata().name, options.server_id);
  const absl::Status not_ready = absl::UnavailableError("Server not ready");
  EXPECT_EQ(server_->IsModelReady("m", -1).status(), not_ready);
  EXPECT_EQ(server_->FindModel("m", -1).status(), not_ready);
  EXPECT_EQ(server_->RepositoryIndex(false).status(), not_ready);
  EXPECT_EQ(server_->LoadModel("m"), not_ready);
  EXPECT_EQ(server_->Stop(), absl::OkStatus());
}

TEST_F(ServerTest, ModelsThatCannotBeReadLeaveTheServerReady) {
  AddModel("m", IdentityConfig());
  AddModel("unreadable", "nonsense");
  std::filesystem::create_directories(dir_.Path("no_config/1"));
  ServerOptions options = Options();
  options.exit_on_error = false;
  Start(options);
  EXPECT_TRUE(*server_->IsReady());
  const auto index = server_->RepositoryIndex(false);
  ASSERT_EQ(index->size(), 3u);
  for (const IndexEntry& entry : *index) {
    EXPECT_EQ(entry.state, entry.name == "m" ? "READY" : "UNAVAILABLE") << entry.name;
    EXPECT_EQ(entry.reason.empty(), entry.name == "m") << entry.name;
  }
}

TEST_F(ServerTest, AModelWithoutAVersionMakesTheServerUnready) {
  AddModel("m", IdentityConfig());
  AddModel("no_versions", IdentityConfig(), {});
  ServerOptions options = Options();
  options.exit_on_error = false;
  Start(options);
  EXPECT_FALSE(*server_->IsReady());
}

TEST_F(ServerTest, ARepositoryIsNeeded) {
  ServerOptions options = Options();
  options.model_repositories = {};
  EXPECT_EQ(StartError(options), "--model-repository must be specified");
  options.model_repositories = {dir_.Path("nowhere")};
  EXPECT_THAT(StartError(options), StartsWith("repository path is not a valid directory"));
}

TEST_F(ServerTest, TheWildcardStandsAlone) {
  ServerOptions options = Options(ModelControlMode::kExplicit);
  options.startup_models = {"*", "m"};
  EXPECT_EQ(StartError(options),
            "Wildcard model name '*' must be the ONLY startup model if specified at all.");
}

TEST_F(ServerTest, APollTakesUpWhatHasChanged) {
  AddModel("old", IdentityConfig());
  ServerOptions options = Options(ModelControlMode::kPoll);
  options.repository_poll_secs = 0;  // polls only when Poll is called
  Start(options);
  EXPECT_TRUE(*server_->IsModelReady("old", -1));
  AddModel("new", IdentityConfig());
  std::filesystem::remove_all(dir_.Path("old"));
  ASSERT_TRUE(server_->PollRepository().ok());
  EXPECT_TRUE(*server_->IsModelReady("new", -1));
  EXPECT_FALSE(server_->FindModel("old", -1).ok());
  EXPECT_EQ(
      server_->LoadModel("new"),
      absl::UnavailableError("explicit model load / unload is not allowed if polling is enabled"));
}

TEST_F(ServerTest, AModelThatFailsEndsTheStart) {
  AddModel("good", IdentityConfig());
  AddModel("bad", kBroken);
  const absl::Status status = Server::Create(Options()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), StartsWith("failed to load all models"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("bad"));
}

TEST_F(ServerTest, UnlessItMayStartWithoutIt) {
  AddModel("good", IdentityConfig());
  AddModel("bad", kBroken);
  ServerOptions options = Options();
  options.exit_on_error = false;
  Start(options);
  EXPECT_TRUE(*server_->IsLive());
  EXPECT_FALSE(*server_->IsReady()) << "strictly";
  EXPECT_TRUE(*server_->IsModelReady("good", -1));
  const auto index = server_->RepositoryIndex(/*ready_only=*/false);
  ASSERT_TRUE(index.ok());
  ASSERT_EQ(index->size(), 2u);
  EXPECT_EQ((*index)[0].name, "bad");
  EXPECT_EQ((*index)[0].state, "UNAVAILABLE");
  EXPECT_NE((*index)[0].reason, "");
  EXPECT_EQ((*index)[1].state, "READY");
}

TEST_F(ServerTest, WithoutStrictReadinessModelsDoNotMatter) {
  AddModel("bad", kBroken);
  ServerOptions options = Options();
  options.exit_on_error = false;
  options.strict_readiness = false;
  Start(options);
  EXPECT_TRUE(*server_->IsReady());
}

TEST_F(ServerTest, InExplicitModeOnlyTheModelsNamedAreLoaded) {
  AddModel("a", IdentityConfig());
  AddModel("b", IdentityConfig());
  StartExplicit({"a"});
  EXPECT_TRUE(server_->FindModel("a", -1).ok());
  EXPECT_EQ(server_->FindModel("b", -1).status(),
            absl::NotFoundError("Request for unknown model: 'b' is not found"));
  const auto index = server_->RepositoryIndex(false);
  ASSERT_EQ(index->size(), 2u);
  EXPECT_EQ((*index)[1].name, "b");
  EXPECT_EQ((*index)[1].state, "") << "it is there and was never loaded";
  EXPECT_EQ(server_->RepositoryIndex(/*ready_only=*/true)->size(), 1u);
}

TEST_F(ServerTest, TheWildcardLoadsAll) {
  AddModel("a", IdentityConfig());
  AddModel("b", IdentityConfig());
  StartExplicit({"*"});
  EXPECT_TRUE(server_->FindModel("a", -1).ok());
  EXPECT_TRUE(server_->FindModel("b", -1).ok());
}

// ---- Reports

TEST_F(ServerTest, TellsAboutItself) {
  ServerOptions options = Options(ModelControlMode::kExplicit);
  options.server_id = "my server";
  options.server_version = "9.9";
  Start(options);
  EXPECT_EQ(server_->Metadata().name, "my server");
  EXPECT_EQ(server_->Metadata().version, "9.9");
  EXPECT_THAT(server_->Metadata().extensions, ::testing::Contains("binary_tensor_data"));
}

TEST_F(ServerTest, TellsAboutAModel) {
  AddModel("m", IdentityConfig(kBatched) + "version_policy { all {} }", {1, 3});
  Start(Options());
  const auto metadata = server_->GetModelMetadata("m", -1);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(ToJson(*metadata), R"({"name":"m","versions":["1","3"],"platform":"identity",)"
                               R"("inputs":[{"name":"in","datatype":"FP32","shape":[-1,4]}],)"
                               R"("outputs":[{"name":"out","datatype":"FP32","shape":[-1,4]}]})");
  EXPECT_EQ(server_->GetModelMetadata("m", 3)->versions, std::vector<int64_t>{3});
  EXPECT_EQ(server_->GetModelMetadata("m", 2).status(),
            absl::NotFoundError("Request for unknown model: 'm' version 2 is not found"));
  const auto config = server_->ModelConfigJson("m", -1);
  ASSERT_TRUE(config.ok());
  EXPECT_THAT(*config, HasSubstr(R"("max_batch_size":8)"));
  EXPECT_EQ(server_->ModelConfigJson("x", -1).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ServerTest, StatisticsAskedForAModelThatIsNotThere) {
  AddModel("m", IdentityConfig());
  Start(Options());
  EXPECT_EQ(server_->Statistics("x", -1).status(),
            absl::InvalidArgumentError("requested model 'x' is not available"));
  EXPECT_EQ(server_->Statistics("m", 7).status(),
            absl::InvalidArgumentError("requested model version is not available for model 'm'"));
  EXPECT_EQ(server_->Statistics("", -1)->size(), 1u);
}

TEST_F(ServerTest, StatisticsAskedForAModelThatServesNoMore) {
  AddModel("m", IdentityConfig());
  StartExplicit({"m"});
  ASSERT_TRUE(server_->UnloadModel("m").ok());
  for (const int64_t version : {-1, 1}) {
    EXPECT_EQ(server_->Statistics("m", version).status(),
              absl::InvalidArgumentError("requested model 'm' is not available"));
  }
}

TEST_F(ServerTest, MetricsAreThereUnlessSwitchedOff) {
  Start(Options());
  EXPECT_THAT(*server_->MetricsText(), HasSubstr("nereid_in_flight_bytes 0\n"));
  ServerOptions options = Options();
  options.metrics = false;
  Start(options);
  EXPECT_EQ(server_->MetricsText().status().code(), absl::StatusCode::kUnavailable);
}

// ---- Inference

TEST_F(ServerTest, AnswersARequestAndCountsIt) {
  AddModel("m", IdentityConfig(kBatched));
  Start(Options());
  const auto request = Request("m", 3);
  const std::string output = Run(*request);
  ASSERT_EQ(output.size(), 48u);
  for (size_t i = 0; i < output.size(); ++i) ASSERT_EQ(output[i], static_cast<char>(i));
  const auto& response = request->answer(0).response;
  EXPECT_EQ(response->outputs()[0].name(), "out");
  EXPECT_EQ(response->outputs()[0].shape(), (Shape{3, 4}));
  EXPECT_EQ(response->model_version(), 1);
  EXPECT_EQ(request->answer_count(), 1u);
  EXPECT_EQ(request->releases(), 1);

  const auto statistics = server_->Statistics("m", 1);
  ASSERT_TRUE(statistics.ok());
  const StatisticsSnapshot& s = (*statistics)[0].statistics;
  EXPECT_EQ(s.inference_count, 3u);
  EXPECT_EQ(s.execution_count, 1u);
  EXPECT_EQ(s.success.count, 1u);
  EXPECT_EQ(s.pending, 0);
  EXPECT_EQ(s.batches.at(3).compute_infer.count, 1u);
  EXPECT_THAT(*server_->MetricsText(),
              HasSubstr("nv_inference_count{model=\"m\",version=\"1\"} 3\n"));
}

TEST_F(ServerTest, ARequestMayBeIssuedAgain) {
  AddModel("m", IdentityConfig());
  Start(Options());
  const auto request = Request("m");
  for (int i = 1; i <= 3; ++i) {
    Run(*request);
    while (request->releases() < i) std::this_thread::yield();
  }
  EXPECT_EQ(request->answer_count(), 3u);
}

TEST_F(ServerTest, ABadRequestStaysWithItsMaker) {
  AddModel("m", IdentityConfig());
  Start(Options());
  TestRequest request(*server_->FindModel("m", -1));
  request->set_id("7");
  EXPECT_EQ(server_->Infer(request.get()),
            absl::InvalidArgumentError(
                "[request id: 7] expected 1 inputs but got 0 inputs for model 'm'. Got input(s) "
                "[], but missing required input(s) ['in']. Please provide all required "
                "input(s)."));
  EXPECT_EQ(request.answer_count(), 0u);
  EXPECT_EQ(request.releases(), 0);
  request.Input("in", DataType::kFp32, {4});
  Run(request);
}

TEST_F(ServerTest, ARequestNeedsItsCallbacks) {
  AddModel("m", IdentityConfig());
  Start(Options());
  InferRequest request(*server_->FindModel("m", -1), -1);
  EXPECT_EQ(server_->Infer(&request).code(), absl::StatusCode::kInvalidArgument);
}

// ---- Model control

TEST_F(ServerTest, WithoutExplicitModeModelsAreNotControlled) {
  AddModel("m", IdentityConfig());
  Start(Options());
  const absl::Status refused =
      absl::UnavailableError("explicit model load / unload is not allowed if polling is enabled");
  EXPECT_EQ(server_->PollRepository(), absl::UnavailableError("polling is disabled"));
  EXPECT_EQ(server_->RegisterRepository(dir_.path(), {}),
            absl::UnimplementedError("repository registration is not allowed if model control mode "
                                     "is not EXPLICIT"));
  EXPECT_EQ(server_->UnregisterRepository(dir_.path()),
            absl::UnimplementedError("repository unregistration is not allowed if model control "
                                     "mode is not EXPLICIT"));
  EXPECT_EQ(server_->LoadModel("m"), refused);
  EXPECT_EQ(server_->UnloadModel("m"), refused);
}

TEST_F(ServerTest, ModelsAreLoadedAndUnloaded) {
  AddModel("m", IdentityConfig());
  StartExplicit();
  ASSERT_TRUE(server_->LoadModel("m").ok());
  EXPECT_TRUE(*server_->IsModelReady("m", -1));
  Run(*Request("m"));
  ASSERT_TRUE(server_->UnloadModel("m").ok());
  EXPECT_EQ(server_->FindModel("m", -1).status(),
            absl::NotFoundError("Request for unknown model: 'm' has no available versions"));
  EXPECT_TRUE(server_->UnloadModel("unknown").ok());
}

TEST_F(ServerTest, AModelIsLoadedWithOtherFilesAndConfiguration) {
  using Type = LoadParameter::Type;
  AddModel("m", IdentityConfig());
  StartExplicit({"m"});
  const std::string config = R"({"backend":"identity","max_batch_size":3,)"
                             R"("input":[{"name":"in","data_type":"TYPE_FP32","dims":[4]}],)"
                             R"("output":[{"name":"out","data_type":"TYPE_FP32","dims":[4]}]})";
  ASSERT_TRUE(server_
                  ->LoadModel("m", {{"config", Type::kString, config},
                                    {"file:5/weights", Type::kBytes, "bytes"}})
                  .ok());
  EXPECT_EQ((*server_->FindModel("m", -1))->config().version, 5);
  EXPECT_EQ((*server_->FindModel("m", -1))->config().max_batch_size, 3);
  EXPECT_EQ(server_->LoadModel("m", {{"config", Type::kString, "{"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ((*server_->FindModel("m", -1))->config().version, 5) << "what serves goes on";
  ASSERT_TRUE(server_->LoadModel("m").ok());
  EXPECT_EQ((*server_->FindModel("m", -1))->config().version, 1) << "as the repository has it";
}

TEST_F(ServerTest, LoadErrorsNameTheModel) {
  AddModel("bad", kBroken);
  StartExplicit();
  const absl::Status status = server_->LoadModel("bad");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), StartsWith("load failed for model 'bad': "));
  EXPECT_EQ(status.message().back(), '\n');
  EXPECT_EQ(server_->LoadModel("nowhere"),
            absl::InternalError(
                absl::StrCat("failed to load 'nowhere', failed to poll from model repository: no "
                             "model 'nowhere' in '",
                             dir_.path(), "'")));
  EXPECT_EQ(server_->LoadModel(""),
            absl::InvalidArgumentError(
                "Model name cannot be empty. Please enter a valid name to deploy."));
}

TEST_F(ServerTest, ARequestMadeBeforeAReloadRunsOnTheNewModel) {
  AddModel("m", IdentityConfig());
  StartExplicit({"m"});
  const auto request = Request("m");
  const std::shared_ptr<ServingModel> old = (*request)->model();
  dir_.Write("m/1/weights", "new");
  ASSERT_TRUE(server_->LoadModel("m").ok());
  Run(*request);
  EXPECT_NE((*request)->model(), old);
}

TEST_F(ServerTest, ARequestMadeBeforeAnUnloadFindsNoModel) {
  AddModel("m", IdentityConfig());
  StartExplicit({"m"});
  const auto request = Request("m");
  ASSERT_TRUE(server_->UnloadModel("m").ok());
  EXPECT_EQ(server_->Infer(request->get()),
            absl::NotFoundError("Request for unknown model: 'm' has no available versions"));
  EXPECT_EQ(request->releases(), 0);
}

// ---- Stop

TEST_F(ServerTest, AStoppedServerRefusesEverything) {
  AddModel("m", IdentityConfig());
  Start(Options());
  const auto request = Request("m");
  ASSERT_TRUE(server_->Stop().ok());
  EXPECT_TRUE(server_->Stop().ok()) << "once more does nothing";
  EXPECT_FALSE(*server_->IsLive());
  EXPECT_FALSE(*server_->IsReady());
  const absl::Status not_ready = absl::UnavailableError("Server not ready");
  EXPECT_EQ(server_->Infer(request->get()), not_ready);
  EXPECT_EQ(server_->IsModelReady("m", -1).status(), not_ready);
  EXPECT_EQ(server_->GetModelMetadata("m", -1).status(), not_ready);
  EXPECT_EQ(server_->RepositoryIndex(false).status(), not_ready);
  EXPECT_EQ(server_->LoadModel("m"), not_ready);
}

TEST_F(ServerTest, RequestsInFlightAreAnsweredBeforeTheServerIsGone) {
  AddModel("m", IdentityConfig("parameters { key: \"execute_delay_ms\" value { string_value: "
                               "\"20\" } }"));
  Start(Options());
  std::vector<std::unique_ptr<TestRequest>> requests;
  for (int i = 0; i < 3; ++i) {
    requests.push_back(Request("m"));
    ASSERT_TRUE(server_->Infer(requests.back()->get()).ok());
  }
  server_.reset();
  for (const auto& request : requests) {
    EXPECT_EQ(request->releases(), 1);
    EXPECT_TRUE(request->final_status().ok()) << request->final_status();
  }
}

TEST_F(ServerTest, AnExitTimeoutEndsTheWait) {
  AddModel("m", IdentityConfig("parameters { key: \"execute_delay_ms\" value { string_value: "
                               "\"50\" } }"));
  ServerOptions options = Options();
  options.exit_timeout_secs = 0;
  Start(options);
  const auto request = Request("m");
  ASSERT_TRUE(server_->Infer(request->get()).ok());
  EXPECT_EQ(server_->Stop(), absl::InternalError("Exit timeout expired. Exiting immediately."));
  request->WaitDone();
  // The request has ended, so a second Stop succeeds.
  server_->SetExitTimeout(30);
  EXPECT_EQ(server_->Stop(), absl::OkStatus());
}

// ---- Sequences

// A model that runs two sequences at a time.
constexpr char kSequences[] =
    "sequence_batching { max_sequence_idle_microseconds: 60000000 } "
    "instance_group { kind: KIND_CPU count: 2 }";
constexpr uint32_t kStart = kRequestFlagSequenceStart;
constexpr uint32_t kEnd = kRequestFlagSequenceEnd;

TEST_F(ServerTest, AfterAReloadSequencesGoOnWhereTheyBegan) {
  AddModel("m", IdentityConfig(kSequences));
  StartExplicit({"m"});
  EXPECT_EQ(Send(1, kStart), absl::OkStatus());
  AddModel("m", IdentityConfig(std::string(kSequences) +
                               " parameters { key: \"k\" value { string_value: \"v\" } }"));
  ASSERT_EQ(server_->LoadModel("m"), absl::OkStatus());
  EXPECT_THAT(*server_->ModelConfigJson("m", -1), HasSubstr("\"k\""));
  EXPECT_EQ(Send(1, 0), absl::OkStatus());
  EXPECT_EQ(Send(2, kStart | kEnd), absl::OkStatus());
  EXPECT_EQ(Send(1, kEnd), absl::OkStatus());
  EXPECT_EQ(Send(1, 0).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ServerTest, SequencesGoOnAlsoWhenTheModelWasAwayForAWhile) {
  AddModel("m", IdentityConfig(kSequences));
  StartExplicit({"m"});
  EXPECT_EQ(Send(1, kStart), absl::OkStatus());
  ASSERT_EQ(server_->UnloadModel("m"), absl::OkStatus());
  ASSERT_EQ(server_->LoadModel("m"), absl::OkStatus());
  EXPECT_EQ(Send(1, 0), absl::OkStatus());
  EXPECT_EQ(Send(1, kEnd), absl::OkStatus());
  EXPECT_EQ(Send(1, 0).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ServerTest, ALameDuckIsNotReadyAndServes) {
  AddModel("m", IdentityConfig(kSequences));
  Start(Options());
  ASSERT_TRUE(*server_->IsReady());
  server_->BeginLameDuck();
  EXPECT_FALSE(*server_->IsReady());
  EXPECT_FALSE(*server_->IsModelReady("m", -1));
  EXPECT_EQ(server_->IsModelReady("nobody", -1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(*server_->IsLive());
  EXPECT_EQ(Send(1, kStart | kEnd, /*client=*/true), absl::OkStatus());
}

TEST_F(ServerTest, WhileItDrainsOnlyLiveSequencesOfClientsGoOn) {
  AddModel("m", IdentityConfig(kSequences));
  Start(Options());
  EXPECT_EQ(Send(1, kStart), absl::OkStatus());
  std::thread drain([&] { server_->Drain(server_->clock()->Now() + std::chrono::minutes(1)); });
  while (server_->IsLive().ok()) std::this_thread::yield();
  EXPECT_EQ(server_->IsReady().status(), absl::UnavailableError("Server exiting"));
  EXPECT_EQ(Send(2, kStart | kEnd, /*client=*/true),
            absl::UnavailableError("Server is stopping, scheduler for model has stopped accepting "
                                   "new inference requests"));
  EXPECT_EQ(Send(2, kStart | kEnd), absl::OkStatus()) << "of a model in flight";
  EXPECT_EQ(Send(1, 0, /*client=*/true), absl::OkStatus());
  EXPECT_EQ(Send(1, kEnd, /*client=*/true), absl::OkStatus());
  drain.join();
  EXPECT_EQ(server_->Stop(), absl::OkStatus());
}

TEST_F(ServerTest, WhileItDrainsSequencesGoOnThroughEnsemblesToo) {
  AddModel("m", IdentityConfig(kSequences));
  for (const std::string name : {"inner", "outer"}) {
    AddModel(name,
             "platform: \"ensemble\" "
             "input { name: \"in\" data_type: TYPE_FP32 dims: [ 4 ] } "
             "output { name: \"out\" data_type: TYPE_FP32 dims: [ 4 ] } "
             "ensemble_scheduling { step { model_name: \"" +
                 std::string(name == "inner" ? "m" : "inner") +
                 "\" model_version: -1 input_map { key: \"in\" value: \"in\" } "
                 "output_map { key: \"out\" value: \"out\" } } }");
  }
  Start(Options());
  EXPECT_EQ(Send(1, kStart, /*client=*/true, "outer"), absl::OkStatus());
  server_->Drain(server_->clock()->Now());
  EXPECT_EQ(Send(2, 0, /*client=*/true, "outer").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Send(1, kStart, /*client=*/true, "outer").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Send(1, 0, /*client=*/true, "outer"), absl::OkStatus());
  EXPECT_EQ(Send(1, kEnd, /*client=*/true, "outer"), absl::OkStatus());
}

TEST_F(ServerTest, DrainsNoLongerThanItMay) {
  AddModel("m", IdentityConfig(kSequences));
  Start(Options());
  EXPECT_EQ(Send(1, kStart), absl::OkStatus());
  server_->Drain(server_->clock()->Now());
  EXPECT_EQ(server_->IsReady().status(), absl::UnavailableError("Server exiting"));
  EXPECT_EQ(Send(1, kEnd, /*client=*/true), absl::OkStatus());
}

}  // namespace
}  // namespace nereid
