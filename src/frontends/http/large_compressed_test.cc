// SPDX-License-Identifier: Apache-2.0
// Compressed bodies, compressed answers and JSON that are too large for an I/O thread, over real
// sockets with one I/O thread, a real server and the identity backend. A Door can block the thread
// that decompresses and compresses.
#include <absl/functional/any_invocable.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/door.h"
#include "frontends/codec/compression_testing.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/http/http_frontend.h"
#include "frontends/http/http_inference.h"
#include "frontends/http/testing/served_models.h"
#include "frontends/http/transport/testing/loopback_client.h"
#include "memory/output_allocator.h"

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr char kEchoConfig[] = R"(
name: "echo"
backend: "identity"
input [ { name: "INPUT0" data_type: TYPE_UINT8 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_UINT8 dims: [ -1 ] } ]
)";
// Answers when its request is cancelled, otherwise after a minute, too late for any test.
constexpr char kWaitsConfig[] = R"(
name: "waits"
backend: "testing"
input [ { name: "INPUT0" data_type: TYPE_UINT8 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_UINT8 dims: [ -1 ] } ]
parameters { key: "behaviour" value { string_value: "wait_for_cancel" } }
parameters { key: "delay_ms" value { string_value: "60000" } }
)";
constexpr char kGzipBody[] = "Content-Encoding: gzip\r\n";
constexpr char kGzipAnswer[] = "Accept-Encoding: gzip\r\n";
constexpr uint64_t kMaxInputSize = 8 << 20;
constexpr size_t kMaxWaiting = 3;

// `random` bytes that cannot be compressed, and then `zeros` bytes that can.
std::string Tensor(size_t random, size_t zeros) {
  std::mt19937 generator(7);
  std::string tensor(random + zeros, '\0');
  for (size_t i = 0; i < random; ++i) tensor[i] = static_cast<char>(generator());
  return tensor;
}

// The body of an inference request: JSON, followed by the tensor in binary.
struct Inference {
  std::string model = "echo";
  std::string json;
  std::string tensor;

  explicit Inference(std::string bytes, const std::string& id = "")
      : json(absl::StrCat(R"({"id":")", id,
                          R"(","inputs":[{"name":"INPUT0","datatype":"UINT8","shape":[)",
                          bytes.size(), R"(],"parameters":{"binary_data_size":)", bytes.size(),
                          R"(}}],"parameters":{"binary_data_output":true}})")),
        tensor(std::move(bytes)) {}

  std::string Packed() const { return *Compress(ContentCoding::kGzip, {json, tensor}); }
  std::string Request(const std::string& body, const std::string& headers) const {
    return absl::StrCat("POST /v2/models/", model, "/infer HTTP/1.1\r\n", headers,
                        "Inference-Header-Content-Length: ", json.size(),
                        "\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  }
  std::string PlainRequest(const std::string& headers = "") const {
    return Request(json + tensor, headers);
  }
  std::string PackedRequest(const std::string& headers = "") const {
    return Request(Packed(), absl::StrCat(kGzipBody, headers));
  }
};

constexpr char kTooManyBodies[] =
    R"({"error":"too many large request bodies are being read at a time: try again later"})";

// A request of more than `bytes` bytes.
std::string Generate(size_t bytes, const std::string& method = "generate") {
  std::string body = R"({"INPUT0":[7)";
  while (body.size() < bytes) body += ",7";
  body += "]}";
  return absl::StrCat("POST /v2/models/echo/", method, " HTTP/1.1\r\nContent-Length: ", body.size(),
                      "\r\n\r\n", body);
}

// The tensor of a successful answer.
std::string TensorOf(const ReceivedResponse& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  std::string body = response.body;
  if (response.Header("content-encoding") == "gzip") {
    body = DecompressToString(ContentCoding::kGzip, body, 1 << 30).value_or("damaged");
  }
  size_t json = 0;
  EXPECT_TRUE(absl::SimpleAtoi(response.Header("inference-header-content-length"), &json));
  return body.substr(std::min(json, body.size()));
}

class LargeCompressedTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "large_compressed.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    repository_ = name;
    AddModel("echo", kEchoConfig);
    AddModel("waits", kWaitsConfig);
    ServerOptions options;
    options.model_repositories = {repository_.string()};
    options.backend_directory = NEREID_TEST_BACKENDS;
    auto server = Server::Create(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    frontend_ = std::make_unique<HttpFrontend>(server_.get(), HttpExecutors{&admin_, &compression_},
                                               HttpFrontendOptions{RequestLimits{kMaxInputSize}});
    HttpServerOptions http = InferencePortOptions(server_.get());
    http.address = "127.0.0.1";
    auto listening = HttpServer::Start(http, frontend_.get());
    ASSERT_TRUE(listening.ok()) << listening.status();
    http_ = *std::move(listening);
  }
  // No test may leave requests or bytes in flight.
  void TearDown() override {
    door_.Open();
    if (http_ == nullptr) return;
    EXPECT_TRUE(BecomesIdle());
    http_->Stop(TimePoint::min());
    EXPECT_TRUE(server_->Stop().ok());
    EXPECT_TRUE(compression_.End(TimePoint::max()));
    EXPECT_TRUE(admin_.End(TimePoint::max()));
    std::filesystem::remove_all(repository_);
  }

  void AddModel(const std::string& name, const std::string& config) {
    std::filesystem::create_directories(repository_ / name / "1");
    std::ofstream(repository_ / name / "config.pbtxt") << config;
  }

  // From here on, large bodies and answers wait.
  void CloseDoor() {
    ASSERT_TRUE(compression_.TryRun([this] { door_.Pass(); }));
    door_.AwaitWaiting(1);
  }
  void FillQueue() {
    while (compression_.TryRun([] {})) {
    }
  }

  LoopbackClient Connect() { return LoopbackClient(http_->port()); }
  // Returns when the I/O thread has done all that it had to do when this was called.
  void AwaitIoThread() {
    LoopbackClient client(http_->port());
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(client.RoundTrip("GET /v2/health/live HTTP/1.1\r\n\r\n").status, 200);
    }
  }
  // Returns when `count` requests are in flight and the I/O thread has handled them.
  void AwaitRequests(uint64_t count) {
    ASSERT_TRUE(
        ServedModels::Eventually([&] { return server_->in_flight_requests()->used() == count; }));
    AwaitIoThread();
  }

  bool BecomesIdle() {
    return ServedModels::Eventually([this] {
      return server_->in_flight_bytes()->used() == 0 && server_->in_flight_requests()->used() == 0;
    });
  }
  // The number of executed requests of model `echo`.
  uint64_t Executed() { return (*server_->Statistics("echo", 1))[0].statistics.inference_count; }

  std::filesystem::path repository_;
  Door door_;
  ThreadPool admin_{ThreadPoolOptions()};
  ThreadPool compression_{ThreadPoolOptions{"compression", 1, 1, kMaxWaiting}};
  // Destroyed in reverse order.
  Server::Owner server_;
  std::unique_ptr<HttpFrontend> frontend_;
  std::unique_ptr<HttpServer> http_;
};

TEST_F(LargeCompressedTest, ComesBackAsItWasSent) {
  const Inference inference(Tensor(1 << 20, 1 << 20));
  LoopbackClient client = Connect();
  for (int i = 0; i < 2; ++i) {
    const auto answer = client.RoundTrip(inference.PackedRequest(kGzipAnswer));
    EXPECT_EQ(answer.Header("content-encoding"), "gzip");
    EXPECT_LT(answer.body.size(), inference.tensor.size());
    EXPECT_TRUE(TensorOf(answer) == inference.tensor);
  }
}

TEST_F(LargeCompressedTest, BodyIsNotDecompressedOnTheIoThread) {
  CloseDoor();
  const Inference inference(Tensor(100 << 10, 1 << 20));
  const std::string packed = inference.Packed();
  ASSERT_GT(packed.size(), kMostInlineCompressedBytes);
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(inference.Request(packed, kGzipBody)));
  AwaitRequests(1);
  EXPECT_GE(server_->in_flight_bytes()->used(), packed.size());
  EXPECT_LT(server_->in_flight_bytes()->used(), packed.size() + (64 << 10));
  EXPECT_EQ(Executed(), 0u);
  door_.Open();
  EXPECT_TRUE(TensorOf(client.Read()) == inference.tensor);
}

TEST_F(LargeCompressedTest, SmallBodyThatBecomesLargeIsLeftToAnotherThread) {
  CloseDoor();
  const Inference inference(Tensor(0, 4 << 20));
  const std::string packed = inference.Packed();
  ASSERT_LT(packed.size(), kMostInlineCompressedBytes);
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(inference.Request(packed, kGzipBody)));
  AwaitRequests(1);
  EXPECT_GE(server_->in_flight_bytes()->used(), kMostInlinePlainBytes);
  EXPECT_LT(server_->in_flight_bytes()->used(), 2 * kMostInlinePlainBytes);
  door_.Open();
  EXPECT_TRUE(TensorOf(client.Read()) == inference.tensor);
}

TEST_F(LargeCompressedTest, SmallOnesAreTheIoThreadsOwn) {
  CloseDoor();
  LoopbackClient client = Connect();
  // The second body grows when it is decompressed.
  for (const Inference& inference :
       {Inference(Tensor(60 << 10, 0)), Inference(Tensor(10 << 10, 50 << 10))}) {
    const auto answer = client.RoundTrip(inference.PackedRequest(kGzipAnswer));
    EXPECT_EQ(answer.Header("content-encoding"), "gzip");
    EXPECT_TRUE(TensorOf(answer) == inference.tensor);
  }
}

// Such JSON may have 100,000 inputs, for example.
TEST_F(LargeCompressedTest, LargeJsonIsNotReadOnTheIoThread) {
  CloseDoor();
  const std::string blanks(kMostInlineJsonBytes, ' ');
  Inference inference(Tensor(100, 0));
  inference.json += blanks;
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(inference.PlainRequest()));
  AwaitRequests(1);
  EXPECT_EQ(Executed(), 0u);
  door_.Open();
  EXPECT_TRUE(TensorOf(client.Read()) == inference.tensor);
  // That thread also finds errors in the JSON.
  const auto wrong = client.RoundTrip(
      absl::StrCat("POST /v2/models/echo/infer HTTP/1.1\r\nContent-Length: ", blanks.size() + 1,
                   "\r\n\r\n", blanks, "["));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("failed to parse the request JSON buffer"));
}

TEST_F(LargeCompressedTest, LargeJsonIsRefusedWhenTooMuchWaits) {
  CloseDoor();
  FillQueue();
  Inference inference(Tensor(100, 0));
  inference.json += std::string(kMostInlineJsonBytes, ' ');
  LoopbackClient client = Connect();
  for (const std::string& request :
       {inference.PlainRequest(), inference.PackedRequest(), Generate(kMostInlineJsonBytes)}) {
    const auto refused = client.RoundTrip(request);
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.body, kTooManyBodies);
    EXPECT_EQ(server_->in_flight_bytes()->used(), 0u);
    EXPECT_EQ(server_->in_flight_requests()->used(), 0u);
  }
  EXPECT_EQ(Executed(), 0u);
  // What is small is served as always.
  EXPECT_EQ(client.RoundTrip(Generate(100)).status, 200);
}

TEST_F(LargeCompressedTest, LargeGenerateBodyIsNotReadOnTheIoThread) {
  CloseDoor();
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(Generate(kMostInlineJsonBytes)));
  AwaitRequests(1);
  EXPECT_EQ(Executed(), 0u);
  door_.Open();
  const auto answer = client.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"({"OUTPUT0":[7,7,7,)"));
  // A stream is no different, and that thread also finds errors.
  EXPECT_THAT(client.RoundTrip(Generate(kMostInlineJsonBytes, "generate_stream")).body,
              HasSubstr(R"(data: {"OUTPUT0":[7,7,7,)"));
  const std::string blanks(kMostInlineJsonBytes, ' ');
  const auto wrong = client.RoundTrip(
      absl::StrCat("POST /v2/models/echo/generate HTTP/1.1\r\nContent-Length: ", blanks.size() + 1,
                   "\r\n\r\n", blanks, "["));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("failed to parse the request JSON buffer"));
}

TEST_F(LargeCompressedTest, NothingIsGeneratedForAClientThatHasLeft) {
  CloseDoor();
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(Generate(kMostInlineJsonBytes)));
  AwaitRequests(1);
  client.Reset();
  ASSERT_TRUE(ServedModels::Eventually([this] { return http_->connection_count() == 0; }));
  door_.Open();
  EXPECT_TRUE(BecomesIdle());
  EXPECT_EQ(Executed(), 0u);
}

TEST_F(LargeCompressedTest, LargeAnswerIsNotWrittenOnTheIoThread) {
  CloseDoor();
  Inference inference(Tensor(100 << 10, 0));
  inference.json.replace(inference.json.find("true"), 4, "false");
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(inference.PlainRequest()));
  ASSERT_TRUE(ServedModels::Eventually([this] { return Executed() == 1; }));
  AwaitIoThread();
  EXPECT_EQ(server_->in_flight_requests()->used(), 1u) << "it has its answer";
  door_.Open();
  const auto answer = client.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("shape":[102400],"data":[)"));
}

TEST_F(LargeCompressedTest, LargeAnswerIsWrittenByTheModelsThreadWhenTooMuchWaits) {
  CloseDoor();
  FillQueue();
  Inference inference(Tensor(100 << 10, 0));
  inference.json.replace(inference.json.find("true"), 4, "false");
  LoopbackClient client = Connect();
  const auto answer = client.RoundTrip(inference.PlainRequest());
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"("shape":[102400],"data":[)"));
}

TEST_F(LargeCompressedTest, MistakesAreFoundOnAnyThread) {
  LoopbackClient client = Connect();
  const Inference large(Tensor(0, kMaxInputSize));
  EXPECT_THAT(client.RoundTrip(large.PackedRequest()).body,
              HasSubstr("Decompressed data size exceeds the maximum allowed value of 8388608 "));
  const Inference inference(Tensor(200 << 10, 0));
  const std::string packed = inference.Packed();
  const auto cut =
      client.RoundTrip(inference.Request(packed.substr(0, packed.size() - 10), kGzipBody));
  EXPECT_EQ(cut.status, 400);
  EXPECT_THAT(cut.body, HasSubstr("failed to decompress the request body: the data ends early"));
  const std::string no_json = Tensor(200 << 10, 0);
  EXPECT_EQ(
      client.RoundTrip(inference.Request(*Compress(ContentCoding::kGzip, {no_json}), kGzipBody))
          .status,
      400);
}

TEST_F(LargeCompressedTest, BodyIsRefusedWhenTooMuchWaits) {
  CloseDoor();
  FillQueue();
  LoopbackClient client = Connect();
  for (const Inference& inference :
       {Inference(Tensor(100 << 10, 1 << 20)), Inference(Tensor(0, 4 << 20))}) {
    const auto refused = client.RoundTrip(inference.PackedRequest());
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.body, kTooManyBodies);
    EXPECT_EQ(server_->in_flight_bytes()->used(), 0u);
    EXPECT_EQ(server_->in_flight_requests()->used(), 0u);
  }
  EXPECT_EQ(Executed(), 0u);
}

TEST_F(LargeCompressedTest, AnswerIsSentAsItIsWhenTooMuchWaits) {
  CloseDoor();
  FillQueue();
  const Inference inference(Tensor(0, 1 << 20));
  LoopbackClient client = Connect();
  const auto plain = client.RoundTrip(inference.PlainRequest(kGzipAnswer));
  EXPECT_EQ(plain.Header("content-encoding"), "");
  EXPECT_TRUE(TensorOf(plain) == inference.tensor);
}

TEST_F(LargeCompressedTest, AnswerIsNotCompressedOnTheIoThread) {
  CloseDoor();
  const Inference inference(Tensor(0, 1 << 20));
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(inference.PlainRequest(kGzipAnswer)));
  ASSERT_TRUE(ServedModels::Eventually([this] { return Executed() == 1; }));
  AwaitIoThread();
  EXPECT_EQ(server_->in_flight_requests()->used(), 1u) << "it has its answer";
  door_.Open();
  const auto answer = client.Read();
  EXPECT_EQ(answer.Header("content-encoding"), "gzip");
  EXPECT_TRUE(TensorOf(answer) == inference.tensor);
}

TEST_F(LargeCompressedTest, PipelinedRequestsAreAnsweredInOrder) {
  CloseDoor();
  const Inference large(Tensor(100 << 10, 0), "large");
  const Inference small(Tensor(10, 0), "small");
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(large.PackedRequest() + small.PlainRequest() +
                          large.PlainRequest(kGzipAnswer) + small.PackedRequest()));
  AwaitRequests(1);
  door_.Open();
  EXPECT_THAT(client.Read().body, HasSubstr(R"("id":"large")"));
  EXPECT_THAT(client.Read().body, HasSubstr(R"("id":"small")"));
  EXPECT_TRUE(TensorOf(client.Read()) == large.tensor);
  EXPECT_THAT(client.Read().body, HasSubstr(R"("id":"small")"));
}

TEST_F(LargeCompressedTest, NothingIsInferredForAClientThatHasLeft) {
  CloseDoor();
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(Inference(Tensor(100 << 10, 1 << 20)).PackedRequest()));
  AwaitRequests(1);
  client.Reset();
  ASSERT_TRUE(ServedModels::Eventually([this] { return http_->connection_count() == 0; }));
  door_.Open();
  EXPECT_TRUE(BecomesIdle());
  EXPECT_EQ(Executed(), 0u);
}

// The client may leave while the request is with the thread that decompresses, on its way to the
// model, or in the model.
TEST_F(LargeCompressedTest, LeavingCancelsWhatAnotherThreadIssues) {
  Inference inference(Tensor(100 << 10, 0));
  inference.model = "waits";
  const std::string request = inference.PackedRequest();
  for (int round = 0; round < 40; ++round) {
    LoopbackClient client = Connect();
    ASSERT_TRUE(client.Send(request));
    AwaitRequests(1);
    for (int i = 0; i < round / 4; ++i) AwaitIoThread();
    client.Reset();
    ASSERT_TRUE(BecomesIdle()) << "the model was not told";
  }
}

// A sink for the answer without a client, so that nothing is cancelled unless the test does it.
class Answers final : public HttpResponseSink {
 public:
  void AddHeader(absl::string_view /*name*/, std::string /*value*/) override {}
  void Complete(HttpResponse response) override { status.set_value(response.status); }
  void CompleteWith(absl::AnyInvocable<HttpResponse()> make) override { Complete(make()); }
  void SetOnCancel(absl::AnyInvocable<void()>) override {}
  std::function<void()> PutOff(absl::AnyInvocable<void()> /*go_on*/) override {
    return [] {};
  }

  std::promise<int> status;
};

// Cancel may come while another thread is about to issue the request. Then the model must be told
// after that.
TEST_F(LargeCompressedTest, CancelIsKeptUntilTheRequestIsIssued) {
  Inference request(Tensor(10, 0));
  const std::string bytes = request.json + request.tensor;
  const auto body = ReceivedBody::Reserve(bytes.size(), 0);
  body->Grant(bytes.size(), BudgetUnits());
  bytes.copy(body->mutable_end(), bytes.size());
  body->Extend(bytes.size());
  body->Seal();
  const auto sink = std::make_shared<Answers>();
  const OutputAllocators allocators(server_->in_flight_bytes());
  const auto inference = std::make_shared<HttpInference>(*server_->FindModel("waits", -1), -1,
                                                         ContentCoding::kIdentity, &compression_);
  ASSERT_TRUE(inference
                  ->Read(body, request.json.size(), RequestLimits{}, server_->in_flight_bytes(),
                         SharedMemoryRegistry::Closed())
                  .ok());
  inference->Attach(HttpResponder(sink));
  inference->Cancel();
  HttpInference::Issue(inference, server_.get(), allocators, nullptr);
  auto status = sink->status.get_future();
  ASSERT_EQ(status.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(status.get(), 400);
}

TEST_F(LargeCompressedTest, HalfClosedClientIsTold) {
  CloseDoor();
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(Inference(Tensor(100 << 10, 1 << 20)).PackedRequest()));
  AwaitRequests(1);
  client.ShutdownSend();
  AwaitIoThread();
  door_.Open();
  const auto answer = client.Read();
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body, R"({"error":"the request was cancelled"})");
  EXPECT_EQ(Executed(), 0u);
}

TEST_F(LargeCompressedTest, AnswerForAClientThatHasLeftIsDropped) {
  CloseDoor();
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(Inference(Tensor(0, 1 << 20)).PlainRequest(kGzipAnswer)));
  ASSERT_TRUE(ServedModels::Eventually([this] { return Executed() == 1; }));
  client.Reset();
  ASSERT_TRUE(ServedModels::Eventually([this] { return http_->connection_count() == 0; }));
  door_.Open();
  EXPECT_TRUE(BecomesIdle());
}

TEST_F(LargeCompressedTest, EndOfThePortEndsWhatWaits) {
  CloseDoor();
  LoopbackClient body = Connect();
  ASSERT_TRUE(body.Send(Inference(Tensor(100 << 10, 1 << 20)).PackedRequest()));
  AwaitRequests(1);
  LoopbackClient answer = Connect();
  ASSERT_TRUE(answer.Send(Inference(Tensor(0, 1 << 20)).PlainRequest(kGzipAnswer)));
  ASSERT_TRUE(ServedModels::Eventually([this] { return Executed() == 1; }));
  // The same calls as in the program.
  http_->Stop(TimePoint::min());
  EXPECT_TRUE(server_->Stop().ok());
  door_.Open();
  EXPECT_TRUE(compression_.End(TimePoint::max()));
  EXPECT_TRUE(BecomesIdle());
}

TEST_F(LargeCompressedTest, DrainWaitsForThem) {
  CloseDoor();
  const Inference inference(Tensor(100 << 10, 1 << 20));
  LoopbackClient client = Connect();
  ASSERT_TRUE(client.Send(inference.PackedRequest(kGzipAnswer)));
  AwaitRequests(1);
  std::thread drain([this] { http_->Stop(TimePoint::max()); });
  door_.Open();
  const auto answer = client.Read();
  drain.join();
  EXPECT_EQ(answer.Header("content-encoding"), "gzip");
  EXPECT_TRUE(TensorOf(answer) == inference.tensor);
}

// Some clients leave in the middle, and others stay. The queue is full at times.
TEST_F(LargeCompressedTest, ClientsComeAndGo) {
  constexpr int kClients = 8;
  constexpr int kRounds = 12;
  const Inference inference(Tensor(100 << 10, 1 << 20));
  const std::string request = inference.PackedRequest(kGzipAnswer);
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      std::mt19937 random(i);
      for (int round = 0; round < kRounds; ++round) {
        LoopbackClient client = Connect();
        const bool stays = random() % 2 == 0;
        if (!client.Send(request)) ADD_FAILURE() << "the server hangs up";
        if (!stays) {
          client.Reset();
          continue;
        }
        const auto answer = client.Read();
        if (answer.status == 503) continue;
        EXPECT_TRUE(TensorOf(answer) == inference.tensor);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(BecomesIdle());
}

}  // namespace
}  // namespace nereid
