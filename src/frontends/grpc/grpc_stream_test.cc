// SPDX-License-Identifier: Apache-2.0
// Inference streams over a loopback connection, with a real server.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "frontends/grpc/testing/loopback.h"

namespace nereid {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kDecoupled[] = "model_transaction_policy { decoupled: true }\n";
constexpr char kRepeatTensors[] = R"(
input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
        { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
         { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
)";
constexpr char kInt32Tensors[] = R"(
input { name: "INPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
)";

TestModel Repeat() { return {"repeat", "repeat", kDecoupled, kRepeatTensors}; }
TestModel Slow(const std::string& name, int delay_ms) {
  return {name, "identity", ModelParameterText("execute_delay_ms", absl::StrCat(delay_ms))};
}
TestModel Testing(const std::string& name, const std::string& behaviour, const std::string& more) {
  return {name, "testing", absl::StrCat(ModelParameterText("behaviour", behaviour), more),
          kInt32Tensors};
}

template <typename T>
void AddInput(const std::string& name, const std::string& type, const std::vector<T>& values,
              ModelInferRequest* request) {
  ModelInferRequest::InferInputTensor* const input = request->add_inputs();
  input->set_name(name);
  input->set_datatype(type);
  input->add_shape(static_cast<int64_t>(values.size()));
  request->add_raw_input_contents(
      std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}

ModelInferRequest RepeatRequest(const std::string& id, const std::vector<int32_t>& values,
                                const std::vector<uint32_t>& delays_ms) {
  ModelInferRequest request;
  request.set_model_name("repeat");
  request.set_id(id);
  AddInput("IN", "INT32", values, &request);
  AddInput("DELAY", "UINT32", delays_ms, &request);
  AddInput<uint32_t>("WAIT", "UINT32", {0}, &request);
  return request;
}

ModelInferRequest EchoRequest(const std::string& id, const std::string& model,
                              const std::vector<float>& values = {1}) {
  ModelInferRequest request = Loopback::EchoRequest(model, values);
  request.set_id(id);
  return request;
}

ModelInferRequest NumberRequest(const std::string& id, const std::string& model, int32_t value) {
  ModelInferRequest request;
  request.set_model_name(model);
  request.set_id(id);
  AddInput<int32_t>("INPUT0", "INT32", {value}, &request);
  return request;
}

// A stream under way; cancelled if it is left open.
class Stream {
 public:
  explicit Stream(Loopback* loopback, bool end_at_errors = false) {
    if (end_at_errors) context_.AddMetadata("triton_grpc_error", "true");
    stream_ = loopback->stub()->ModelStreamInfer(&context_);
  }
  ~Stream() {
    if (finished_) return;
    context_.TryCancel();
    Finish();
  }

  void Send(const ModelInferRequest& request) { stream_->Write(request); }
  void HalfClose() { stream_->WritesDone(); }
  bool Read(ModelStreamInferResponse* response) { return stream_->Read(response); }
  // The next response as a text: see Describe. "end" when there is none.
  std::string Next() {
    ModelStreamInferResponse response;
    return Read(&response) ? Describe(response) : "end";
  }
  // Everything up to the end.
  std::vector<std::string> Rest() {
    std::vector<std::string> all;
    for (std::string next = Next(); next != "end"; next = Next()) all.push_back(next);
    return all;
  }
  grpc::Status Finish() {
    finished_ = true;
    for (ModelStreamInferResponse rest; stream_->Read(&rest);) {
    }
    return stream_->Finish();
  }
  void Cancel() { context_.TryCancel(); }

  // "<id>: <first INT32 of the first output>[ final]" or "<id>: error <text>[ final]".
  static std::string Describe(const ModelStreamInferResponse& response) {
    const ModelInferResponse& infer = response.infer_response();
    std::string text = absl::StrCat(infer.id(), ":");
    if (!response.error_message().empty())
      absl::StrAppend(&text, " error ", response.error_message());
    if (infer.raw_output_contents_size() > 0) {
      int32_t value = 0;
      const std::string& bytes = infer.raw_output_contents(0);
      std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
      absl::StrAppend(&text, " ", value);
    }
    const auto final_response = infer.parameters().find("triton_final_response");
    if (final_response != infer.parameters().end() && final_response->second.bool_param()) {
      text += " final";
    }
    return text;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<ModelInferRequest, ModelStreamInferResponse>> stream_;
  bool finished_ = false;
};

class GrpcStreamTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    loopback_ = new Loopback(
        {Repeat(),
         {"echo"},
         Slow("slow", 100),
         Testing("fails_some", "fails_some", ""),
         Testing("number", "echo", ""),
         Testing("twice", "decoupled", ModelParameterText("responses", "2")),
         Testing("never", "decoupled", ModelParameterText("responses", "0")),
         Testing("last_is_final", "decoupled",
                 absl::StrCat(ModelParameterText("responses", "2"),
                              ModelParameterText("final_with_last", "true"), kDecoupled)),
         Testing("wait_for_cancel", "wait_for_cancel", ModelParameterText("delay_ms", "60000"))});
  }
  static void TearDownTestSuite() {
    delete loopback_;
    loopback_ = nullptr;
  }
  // No stream leaves anything behind.
  void TearDown() override { EXPECT_TRUE(loopback_->BecomesIdle()); }

  // Sends the requests, half-closes, and returns all that comes back; the stream has to end well.
  static std::vector<std::string> Run(const std::vector<ModelInferRequest>& requests) {
    Stream stream(loopback_);
    for (const ModelInferRequest& request : requests) stream.Send(request);
    stream.HalfClose();
    std::vector<std::string> answers = stream.Rest();
    const grpc::Status status = stream.Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answers;
  }

  static Loopback* loopback_;
};

Loopback* GrpcStreamTest::loopback_ = nullptr;

TEST_F(GrpcStreamTest, ResponsesOfADecoupledModel) {
  Stream stream(loopback_);
  stream.Send(RepeatRequest("a", {4, 2}, {1, 0}));
  ModelStreamInferResponse response;
  ASSERT_TRUE(stream.Read(&response));
  EXPECT_EQ(response.error_message(), "");
  EXPECT_EQ(response.infer_response().id(), "a");
  EXPECT_EQ(response.infer_response().model_name(), "repeat");
  EXPECT_EQ(response.infer_response().model_version(), "1");
  ASSERT_EQ(response.infer_response().outputs_size(), 2);
  EXPECT_EQ(response.infer_response().outputs(1).name(), "IDX");
  EXPECT_EQ(response.infer_response().outputs(1).datatype(), "UINT32");
  EXPECT_EQ(Stream::Describe(response), "a: 4");
  EXPECT_EQ(stream.Next(), "a: 2");
  stream.HalfClose();
  EXPECT_EQ(stream.Next(), "end");
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(GrpcStreamTest, EmptyFinalResponseOnlyForThoseWhoAsk) {
  EXPECT_THAT(Run({RepeatRequest("a", {}, {})}), ElementsAre());
  ModelInferRequest asks = RepeatRequest("a", {5}, {0});
  (*asks.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  EXPECT_THAT(Run({asks}), ElementsAre("a: 5", "a: final"));
  asks = NumberRequest("b", "last_is_final", 3);
  (*asks.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  EXPECT_THAT(Run({asks}), ElementsAre("b: 3", "b: 3 final"));
}

TEST_F(GrpcStreamTest, OtherModelsAnswerInTheOrderOfTheRequests) {
  EXPECT_THAT(
      Run({EchoRequest("a", "slow"), NumberRequest("b", "number", 2), EchoRequest("c", "nobody"),
           NumberRequest("d", "number", 4)}),
      ElementsAre(HasSubstr("a: "), "b: 2 final",
                  "c: error Request for unknown model: 'nobody' is not found", "d: 4 final"));
}

TEST_F(GrpcStreamTest, DecoupledResponsesWaitForNobody) {
  Stream stream(loopback_);
  stream.Send(NumberRequest("unanswered", "wait_for_cancel", 1));
  stream.Send(RepeatRequest("r", {1, 2}, {0, 0}));
  EXPECT_EQ(stream.Next(), "r: 1");
  EXPECT_EQ(stream.Next(), "r: 2");
}

TEST_F(GrpcStreamTest, ErrorsStayWithTheirRequest) {
  ModelInferRequest bad_parameter = NumberRequest("p", "number", 1);
  (*bad_parameter.mutable_parameters())["triton_enable_empty_final_response"].set_int64_param(1);
  ModelInferRequest bad_version = NumberRequest("v", "number", 1);
  bad_version.set_model_version("x");
  EXPECT_THAT(
      Run({NumberRequest("f", "fails_some", -1), RepeatRequest("m", {1}, {1, 2}), bad_parameter,
           bad_version, NumberRequest("t", "twice", 1), NumberRequest("n", "never", 1),
           NumberRequest("ok", "number", 7)}),
      testing::UnorderedElementsAre(
          "f: error testing backend: refused the value -1 on purpose final",
          "m: error expected IN and DELAY shape to match, got [1] and [2] final",
          "p: error invalid value type for 'triton_enable_empty_final_response' parameter, "
          "expected bool_param.",
          "v: error failed to get model version from specified version string 'x' (details: stol), "
          "version should be an integral value > 0",
          "t: error expected a single response, got 2 final",
          "n: error expected a single response, got 0 final", "ok: 7 final"));
}

TEST_F(GrpcStreamTest, AnErrorOfTheModelNamesRequestAndModel) {
  Stream stream(loopback_);
  ModelInferRequest request = NumberRequest("f", "fails_some", -1);
  request.set_model_version("1");
  stream.Send(request);
  ModelStreamInferResponse response;
  ASSERT_TRUE(stream.Read(&response));
  EXPECT_EQ(response.infer_response().model_name(), "fails_some");
  EXPECT_EQ(response.infer_response().model_version(), "1");
  EXPECT_EQ(response.infer_response().outputs_size(), 0);
}

TEST_F(GrpcStreamTest, ACallThatEndsWithTheFirstError) {
  for (const ModelInferRequest& request :
       {NumberRequest("f", "fails_some", -1), RepeatRequest("m", {1}, {1, 2})}) {
    Stream stream(loopback_, /*end_at_errors=*/true);
    stream.Send(NumberRequest("w", "wait_for_cancel", 1));
    stream.Send(request);
    EXPECT_EQ(stream.Next(), "end");
    EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  Stream stream(loopback_, /*end_at_errors=*/true);
  stream.Send(NumberRequest("a", "number", 1));
  EXPECT_EQ(stream.Next(), "a: 1 final");
  stream.Send(EchoRequest("n", "nobody"));
  EXPECT_EQ(stream.Next(), "end");
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "Request for unknown model: 'nobody' is not found");
}

TEST_F(GrpcStreamTest, AStreamWithoutRequestsEndsWell) {
  Stream stream(loopback_);
  stream.HalfClose();
  EXPECT_EQ(stream.Next(), "end");
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_F(GrpcStreamTest, BytesThatAreNoMessageAreAnsweredAndTheStreamGoesOn) {
  grpc::GenericStub stub(loopback_->channel());
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return ok;
  };
  const auto call =
      stub.PrepareCall(&context, "/inference.GRPCInferenceService/ModelStreamInfer", &queue);
  call->StartCall(nullptr);
  ASSERT_TRUE(next());
  const auto send = [&](const std::string& bytes) {
    const grpc::Slice slice(bytes);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    return next();
  };
  const auto receive = [&] {
    grpc::ByteBuffer bytes;
    call->Read(&bytes, nullptr);
    grpc::Slice slice;
    ModelStreamInferResponse response;
    if (!next() || !bytes.DumpToSingleSlice(&slice).ok()) return std::string("end");
    response.ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
    return Stream::Describe(response);
  };
  ASSERT_TRUE(send("\xff\xff\xff\xff"));
  EXPECT_EQ(receive(), ": error Unable to parse request");
  ASSERT_TRUE(send(NumberRequest("a", "number", 5).SerializeAsString()));
  EXPECT_EQ(receive(), "a: 5 final");
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
  queue.Shutdown();
}

TEST_F(GrpcStreamTest, CancellingTheCallCancelsAllItsRequests) {
  Stream stream(loopback_);
  stream.Send(NumberRequest("a", "wait_for_cancel", 1));
  stream.Send(NumberRequest("queued", "wait_for_cancel", 1));
  stream.Send(RepeatRequest("r", {1, 2}, {0, 60'000}));
  EXPECT_EQ(stream.Next(), "r: 1");
  EXPECT_EQ(loopback_->grpc()->in_flight_calls(), 3);
  stream.Cancel();
  EXPECT_EQ(stream.Next(), "end");
  EXPECT_EQ(stream.Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(loopback_->BecomesIdle());
}

TEST_F(GrpcStreamTest, LargeTensorsBothWays) {
  Stream stream(loopback_);
  std::vector<float> values(500'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string bytes = FloatBytes(values);
  std::thread reader([&] {
    for (int i = 0; i < 4; ++i) {
      ModelStreamInferResponse response;
      ASSERT_TRUE(stream.Read(&response));
      EXPECT_EQ(response.infer_response().id(), absl::StrCat(i));
      ASSERT_EQ(response.infer_response().raw_output_contents_size(), 1);
      EXPECT_TRUE(response.infer_response().raw_output_contents(0) == bytes);
    }
  });
  for (int i = 0; i < 4; ++i) stream.Send(EchoRequest(absl::StrCat(i), "echo", values));
  reader.join();
}

// Many decoupled requests with their responses mixed on one stream: all arrive, in order per
// request.
TEST_F(GrpcStreamTest, ManyRequestsOnOneStream) {
  constexpr int kRequests = 20;
  constexpr int kResponses = 200;
  std::vector<int32_t> values(kResponses);
  for (int i = 0; i < kResponses; ++i) values[static_cast<size_t>(i)] = i;
  const std::vector<uint32_t> delays(kResponses, 0);
  Stream stream(loopback_);
  std::thread sender([&] {
    for (int r = 0; r < kRequests; ++r) {
      stream.Send(RepeatRequest(absl::StrCat(r), values, delays));
      stream.Send(NumberRequest(absl::StrCat("n", r), "number", r));
    }
    stream.HalfClose();
  });
  std::map<std::string, int> next;
  int next_number = 0;
  for (std::string text = stream.Next(); text != "end"; text = stream.Next()) {
    if (text[0] == 'n') {
      EXPECT_EQ(text, absl::StrCat("n", next_number, ": ", next_number, " final"));
      ++next_number;
      continue;
    }
    const std::string id = text.substr(0, text.find(':'));
    ASSERT_EQ(text, absl::StrCat(id, ": ", next[id]++));
  }
  sender.join();
  EXPECT_EQ(next_number, kRequests);
  EXPECT_EQ(next.size(), static_cast<size_t>(kRequests));
  for (const auto& [id, count] : next) EXPECT_EQ(count, kResponses) << id;
  EXPECT_TRUE(stream.Finish().ok());
}

// ---- Servers of their own.

// A client that does not read: what waits for it stays small, and when it reads again it gets all.
TEST(GrpcStreamLimits, ASlowReaderHasItsModelWait) {
  GrpcServerOptions options;
  options.max_waiting_stream_bytes = 64 << 10;
  Loopback loopback({Testing("flood", "decoupled",
                             absl::StrCat(ModelParameterText("responses", "200"), kDecoupled)),
                     {"echo"}},
                    {}, options);
  Stream stream(&loopback);
  std::vector<int32_t> values(50'000, 9);  // 200 kB a response, 40 MB in all
  ModelInferRequest request;
  request.set_model_name("flood");
  AddInput("INPUT0", "INT32", values, &request);
  stream.Send(request);
  const auto sent_at_most = [&] { return loopback.server()->in_flight_bytes()->used(); };
  ASSERT_TRUE(Eventually([&] { return sent_at_most() > 0; }));
  // The model waits: other requests are served meanwhile, and what waits does not grow.
  uint64_t most = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", {1})).ok());
    most = std::max(most, sent_at_most());
  }
  EXPECT_LT(most, 4u << 20);
  for (int i = 0; i < 200; ++i) {
    ModelStreamInferResponse response;
    ASSERT_TRUE(stream.Read(&response)) << i;
    EXPECT_EQ(response.infer_response().raw_output_contents(0).size(), values.size() * 4);
  }
  stream.HalfClose();
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcStreamLimits, OneResponseInThePool) {
  GrpcServerOptions options;
  options.max_response_pool_size = 1;
  Loopback loopback({Repeat()}, {}, options);
  Stream stream(&loopback);
  stream.Send(RepeatRequest("a", {1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}));
  stream.HalfClose();
  EXPECT_THAT(stream.Rest(), ElementsAre("a: 1", "a: 2", "a: 3", "a: 4", "a: 5"));
  EXPECT_TRUE(stream.Finish().ok());
  options.max_response_pool_size = 0;
  options.address = "127.0.0.1";
  EXPECT_EQ(
      GrpcServer::Start(options, loopback.server(), loopback.executors()).status(),
      absl::InvalidArgumentError("Error: --grpc-max-response-pool-size must be greater than 0."));
}

TEST(GrpcStreamLimits, AClientThatTakesNothingIsGivenUp) {
  GrpcServerOptions options;
  options.max_waiting_stream_bytes = 64 << 10;
  options.http2.stall_timeout = std::chrono::milliseconds(200);
  Loopback loopback({Testing("flood", "decoupled",
                             absl::StrCat(ModelParameterText("responses", "200"), kDecoupled))},
                    {}, options);
  Stream stream(&loopback);
  ModelInferRequest request;
  request.set_model_name("flood");
  AddInput("INPUT0", "INT32", std::vector<int32_t>(50'000, 9), &request);
  stream.Send(request);
  ASSERT_TRUE(Eventually([&] { return loopback.grpc()->in_flight_calls() == 1; }));
  EXPECT_TRUE(loopback.BecomesIdle());
  EXPECT_FALSE(stream.Finish().ok());
}

// A model that does not ask for credit: its stream alone ends, and what waits is dropped.
TEST(GrpcStreamLimits, AModelThatIgnoresCreditEndsItsStream) {
  GrpcServerOptions options;
  options.max_waiting_stream_bytes = 64 << 10;
  ServerOptions server_options;
  server_options.max_in_flight_bytes = 16 << 20;
  Loopback loopback(
      {Testing("flood", "decoupled",
               absl::StrCat(ModelParameterText("responses", "200"),
                            ModelParameterText("ignores_credit", "true"), kDecoupled)),
       {"echo"}},
      server_options, options);
  Stream stream(&loopback);
  ModelInferRequest request;
  request.set_model_name("flood");
  request.set_id("greedy");
  AddInput("INPUT0", "INT32", std::vector<int32_t>(50'000, 9), &request);
  stream.Send(request);
  // The model sends to its end, although nobody reads.
  const auto model = loopback.server()->FindModel("flood", -1);
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(Eventually([&] { return (*model)->statistics().Snapshot().success.count == 1; }));
  EXPECT_LT(loopback.server()->in_flight_bytes()->used(), 1u << 20) << "the rest was dropped";
  EXPECT_TRUE(loopback.Infer(Loopback::EchoRequest("echo", {1})).ok());
  ModelStreamInferResponse response;
  while (stream.Read(&response)) EXPECT_EQ(response.infer_response().id(), "greedy");
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(),
              HasSubstr("[request id: greedy] the responses of model 'flood' end here because the "
                        "client reads them too slowly: "));
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcStreamLimits, BytesInFlightAreLimited) {
  ServerOptions options;
  options.max_in_flight_bytes = 100'000;
  Loopback loopback({{"echo"}}, options);
  Stream stream(&loopback);
  stream.Send(EchoRequest("large", "echo", std::vector<float>(30'000)));
  EXPECT_THAT(stream.Next(),
              HasSubstr(": error server limit 'in-flight bytes' of 100000 is exhausted"));
  stream.Send(EchoRequest("small", "echo", std::vector<float>(1000)));
  EXPECT_THAT(stream.Next(), HasSubstr("small:"));
  stream.Cancel();
  EXPECT_FALSE(stream.Finish().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcStreamLimits, RequestsBeyondTheMostOfAStreamWaitUnread) {
  GrpcServerOptions options;
  options.max_connection_requests = 3;
  Loopback loopback({Slow("slow", 20)}, {}, options);
  Stream stream(&loopback);
  for (int i = 0; i < 12; ++i) stream.Send(EchoRequest(absl::StrCat(i), "slow"));
  for (int i = 0; i < 12; ++i) {
    EXPECT_LE(loopback.server()->in_flight_requests()->used(), 3u);
    EXPECT_THAT(stream.Next(), HasSubstr(absl::StrCat(i, ":")));
  }
  stream.Cancel();
  EXPECT_FALSE(stream.Finish().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
  EXPECT_TRUE(Eventually([&] { return loopback.server()->in_flight_requests()->used() == 0; }));
}

TEST(GrpcStreamLimits, RequestsInFlightAreLimited) {
  ServerOptions options;
  options.max_in_flight_requests = 4;
  Loopback loopback({Slow("slow", 300)}, options);
  Stream stream(&loopback);
  for (int i = 0; i < 5; ++i) stream.Send(EchoRequest(absl::StrCat(i), "slow"));
  std::string all;
  for (int i = 0; i < 5; ++i) all += stream.Next();
  EXPECT_THAT(all, HasSubstr("server limit 'in-flight requests' of 4 is exhausted"));
  EXPECT_THAT(all, HasSubstr("--max-in-flight-requests"));
  EXPECT_THAT(all, HasSubstr("0:"));
  stream.Cancel();
  EXPECT_FALSE(stream.Finish().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

TEST(GrpcStreamStop, RequestsFinishAndNewOnesAreRefused) {
  Loopback loopback({Repeat(), {"echo"}});
  Stream idle(&loopback);
  idle.Send(EchoRequest("first", "echo"));
  EXPECT_THAT(idle.Next(), HasSubstr("first:"));
  Stream busy(&loopback);
  busy.Send(RepeatRequest("a", {1, 2}, {0, 500}));
  EXPECT_EQ(busy.Next(), "a: 1");
  std::thread stop(
      [&] { loopback.grpc()->Stop(std::chrono::steady_clock::now() + std::chrono::seconds(20)); });
  std::string refused;
  EXPECT_TRUE(Eventually([&] {
    idle.Send(EchoRequest("late", "echo"));
    refused = idle.Next();
    return absl::StrContains(refused, "error");
  }));
  EXPECT_EQ(refused,
            "late: error GRPC server is shutting down and has stopped accepting new requests.");
  EXPECT_EQ(busy.Next(), "a: 2");
  stop.join();
  EXPECT_FALSE(idle.Finish().ok());
}

// The last response comes when the frontend is gone already.
TEST(GrpcStreamStop, StopDoesNotWaitBeyondItsDeadline) {
  Loopback loopback({Repeat(), Slow("slow", 300)});
  Stream stream(&loopback);
  // In this order: once the second has an answer the first is under way too.
  stream.Send(EchoRequest("s", "slow"));
  stream.Send(RepeatRequest("a", {1, 2}, {0, 60'000}));
  EXPECT_EQ(stream.Next(), "a: 1");
  loopback.grpc()->Stop(std::chrono::steady_clock::now());
  EXPECT_EQ(stream.Next(), "end");
  EXPECT_FALSE(stream.Finish().ok());
  EXPECT_TRUE(loopback.BecomesIdle());
}

}  // namespace
}  // namespace nereid
