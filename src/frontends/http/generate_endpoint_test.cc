// SPDX-License-Identifier: Apache-2.0
// The generate extension over real sockets, with a real server.
#include "frontends/http/generate_endpoint.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/http/http_frontend.h"
#include "frontends/http/testing/served_models.h"
#include "observe/metrics/custom_metrics.h"

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr char kEchoConfig[] = R"(
backend: "identity"
input [ { name: "INPUT0" data_type: TYPE_STRING dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_STRING dims: [ -1 ] } ]
)";
constexpr char kRepeatConfig[] = R"(
backend: "repeat"
model_transaction_policy { decoupled: true }
input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
        { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
         { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
)";
constexpr char kFailsConfig[] = R"(
backend: "testing"
input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ 1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 1 ] } ]
parameters { key: "behaviour" value { string_value: "fails_some" } }
)";
// Sends the input back in 100 responses.
constexpr char kFloodConfig[] = R"(
backend: "testing"
model_transaction_policy { decoupled: true }
input [ { name: "INPUT0" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_STRING dims: [ 1 ] } ]
parameters { key: "behaviour" value { string_value: "decoupled" } }
parameters { key: "responses" value { string_value: "100" } }
)";
constexpr char kNotOneResponse[] =
    R"({"error":"generate expects model to produce exactly 1 response, use generate stream for )"
    R"(model that generates various number of responses"})";

class GenerateEndpointTest : public testing::Test {
 protected:
  static constexpr uint64_t kMaxWaitingBytes = 1 << 20;

  static void SetUpTestSuite() {
    HttpFrontendOptions frontend;
    frontend.limits.max_input_size = 4 << 20;
    frontend.max_waiting_bytes = kMaxWaitingBytes;
    served_ = new ServedModels({{"echo", kEchoConfig},
                                {"repeat", kRepeatConfig},
                                {"fails", kFailsConfig},
                                {"flood", kFloodConfig}},
                               frontend);
  }
  static void TearDownTestSuite() { delete served_; }
  // No test may leave requests or bytes in flight.
  void TearDown() override { EXPECT_TRUE(served_->BecomesIdle()); }

  static StatisticsSnapshot RepeatStatistics() {
    return (*served_->server()->Statistics("repeat", 1))[0].statistics;
  }
  // The number of requests of model `repeat` that were cancelled.
  static uint64_t Cancelled() {
    uint64_t count = 0;
    for (const auto& [index, response] : RepeatStatistics().responses) {
      count += response.cancel.count;
    }
    return count;
  }

  static std::string Request(const std::string& path, const std::string& body,
                             const std::string& headers = "") {
    return ServedModels::PostRequest(absl::StrCat("/v2/models/", path), body, headers);
  }
  static ReceivedResponse Post(const std::string& path, const std::string& body,
                               const std::string& headers = "") {
    return served_->Post(absl::StrCat("/v2/models/", path), body, headers);
  }

  static ServedModels* served_;
};
ServedModels* GenerateEndpointTest::served_ = nullptr;

TEST_F(GenerateEndpointTest, TheOnlyResponseAsJson) {
  const auto response = Post("echo/generate", R"({"INPUT0":"hello","id":"7","stream":false})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("content-type"), "application/json");
  EXPECT_EQ(response.body,
            R"({"OUTPUT0":"hello","id":"7","model_name":"echo","model_version":"1"})");
  EXPECT_EQ(Post("echo/versions/1/generate", R"({"INPUT0":["a","b"]})").body,
            R"({"OUTPUT0":["a","b"],"model_name":"echo","model_version":"1"})");
  EXPECT_EQ(Post("repeat/generate", R"({"IN":[7],"DELAY":[0],"WAIT":0})").body,
            R"({"IDX":0,"OUT":7,"model_name":"repeat","model_version":"1"})");
}

TEST_F(GenerateEndpointTest, NotOneResponse) {
  for (const char* body :
       {R"({"IN":[],"DELAY":[],"WAIT":0})", R"({"IN":[1,2],"DELAY":[0,0],"WAIT":0})"}) {
    const auto response = Post("repeat/generate", body);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, kNotOneResponse);
  }
}

TEST_F(GenerateEndpointTest, ErrorsBeforeTheModel) {
  for (const char* endpoint : {"generate", "generate_stream"}) {
    const auto unknown = Post(absl::StrCat("nobody/", endpoint), "{}");
    EXPECT_EQ(unknown.status, 404);
    EXPECT_EQ(unknown.Header("content-type"), "application/json");
    EXPECT_EQ(unknown.body, R"({"error":"Request for unknown model: 'nobody' is not found"})");
    const auto coding = Post(absl::StrCat("echo/", endpoint), "{}", "Content-Encoding: gzip\r\n");
    EXPECT_EQ(coding.status, 400);
    EXPECT_EQ(coding.body,
              R"({"error":"Unsupported content-encoding, only 'identity' is supported."})");
    const auto missing = Post(absl::StrCat("echo/", endpoint), "{}");
    EXPECT_EQ(missing.status, 400);
    EXPECT_EQ(missing.Header("content-type"), "application/json");
    EXPECT_THAT(missing.body, HasSubstr("expected 1 inputs but got 0 inputs for model 'echo'"));
    EXPECT_EQ(Post(absl::StrCat("echo/", endpoint), "").status, 400);
    EXPECT_EQ(Post(absl::StrCat("echo/versions/9/", endpoint), "{}").status, 404);
  }
  EXPECT_EQ(Post("echo/generate", R"({"INPUT0":"x"})", "Content-Encoding: identity\r\n").status,
            200);
}

TEST_F(GenerateEndpointTest, ErrorsOfTheModel) {
  const auto whole = Post("fails/generate", R"({"INPUT0":-1})");
  EXPECT_EQ(whole.status, 400);
  EXPECT_EQ(whole.Header("content-type"), "application/json");
  EXPECT_EQ(whole.body, R"({"error":"testing backend: refused the value -1 on purpose"})");
  const auto streamed = Post("fails/generate_stream", R"({"INPUT0":-1})");
  EXPECT_EQ(streamed.status, 400);
  EXPECT_EQ(streamed.Header("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(streamed.body,
            "data: {\"error\":\"testing backend: refused the value -1 on purpose\"}\n\n");
}

TEST_F(GenerateEndpointTest, EventsArriveAsTheyAreMadeAndLeavingCancels) {
  const uint64_t cancelled = Cancelled();
  LoopbackClient client = served_->Connect();
  client.Send(Request("repeat/generate_stream", R"({"IN":[4,2],"DELAY":[0,60000],"WAIT":0})"));
  const auto head = client.ReadHead();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(client.ReadChunk(),
            "data: {\"IDX\":0,\"OUT\":4,\"model_name\":\"repeat\",\"model_version\":\"1\"}\n\n");
  // The second event would come a minute later.
  client.Close();
  EXPECT_TRUE(ServedModels::Eventually([&] { return Cancelled() == cancelled + 1; }));
}

TEST_F(GenerateEndpointTest, AWholeStream) {
  LoopbackClient client = served_->Connect();
  std::string expected;
  std::string values, delays;
  for (int i = 0; i < 500; ++i) {
    absl::StrAppend(&expected, "data: {\"IDX\":", i, ",\"OUT\":", 7 * i,
                    ",\"id\":\"x\",\"model_name\":\"repeat\",\"model_version\":\"1\"}\n\n");
    absl::StrAppend(&values, i > 0 ? "," : "", 7 * i);
    absl::StrAppend(&delays, i > 0 ? "," : "", 0);
  }
  const std::string body =
      absl::StrCat(R"({"id":"x","WAIT":0,"IN":[)", values, R"(],"DELAY":[)", delays, "]}");
  for (int i = 0; i < 3; ++i) {  // three streams on one connection
    const auto response = client.RoundTrip(Request("repeat/generate_stream", body));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, expected);
  }
}

TEST_F(GenerateEndpointTest, AStreamWithoutResponses) {
  const auto response = Post("repeat/generate_stream", R"({"IN":[],"DELAY":[],"WAIT":0})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(response.body, "");
}

TEST_F(GenerateEndpointTest, LeavingBeforeTheFirstEventCancels) {
  const uint64_t cancelled = Cancelled();
  const uint64_t executed = RepeatStatistics().execution_count;
  LoopbackClient client = served_->Connect();
  client.Send(Request("repeat/generate_stream", R"({"IN":[4],"DELAY":[60000],"WAIT":0})"));
  EXPECT_TRUE(
      ServedModels::Eventually([&] { return RepeatStatistics().execution_count > executed; }));
  client.Reset();
  EXPECT_TRUE(ServedModels::Eventually([&] { return Cancelled() == cancelled + 1; }));
}

TEST_F(GenerateEndpointTest, ASlowReaderHoldsTheModelBack) {
  LoopbackClient client = served_->Connect();
  const std::string text(1'000'000, 'x');
  client.Send(Request("flood/generate_stream", absl::StrCat("{\"INPUT0\":\"", text, "\"}")));
  EXPECT_EQ(client.ReadHead().status, 200);
  uint64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Post("echo/generate", R"({"INPUT0":"x"})").status, 200);
    most = std::max(most, served_->server()->in_flight_bytes()->used());
  }
  // Enough for the request, the events that may wait, and those being made and sent.
  EXPECT_LT(most, 8'000'000u);
  for (int i = 0; i < 100; ++i) ASSERT_GT(client.ReadChunk().size(), text.size()) << i;
  EXPECT_EQ(client.ReadChunk(), "");
}

TEST_F(GenerateEndpointTest, AnswersTellTheLoadIfAskedTo) {
  const std::string body = R"({"INPUT0":"x"})";
  const std::string asked = "Endpoint-Load-Metrics-Format: text\r\n";
  EXPECT_EQ(Post("echo/generate", body, asked).Header("endpoint-load-metrics"), "");
  const auto family = *CustomMetrics::Global()->Family(
      MetricKind::kGauge, "nv_trt_llm_kv_cache_block_metrics", "Blocks");
  std::vector<std::shared_ptr<CustomMetric>> metrics;
  for (const auto& [type, value] : {std::pair("used", 1.0), {"max", 4.0}, {"tokens_per", 64.0}}) {
    metrics.push_back(*family->Metric({{"model", "m"}, {"kv_cache_block_type", type}}, {}));
    ASSERT_TRUE(metrics.back()->Set(value).ok());
  }
  const std::string expected =
      "TEXT named_metrics.kv_cache_utilization=0.250000, named_metrics.max_token_capacity=256";
  EXPECT_EQ(Post("echo/generate", body, asked).Header("endpoint-load-metrics"), expected);
  EXPECT_EQ(Post("echo/generate_stream", body, asked).Header("endpoint-load-metrics"), expected);
  EXPECT_EQ(Post("echo/generate", body).Header("endpoint-load-metrics"), "");
  EXPECT_EQ(Post("echo/generate", body, "endpoint-load-metrics-format: xml\r\n")
                .Header("endpoint-load-metrics"),
            "");
}

}  // namespace
}  // namespace nereid
