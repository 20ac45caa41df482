// SPDX-License-Identifier: Apache-2.0
// OpenAI's routes over real sockets, with a real server, in front of models of the test backends.
#include "frontends/http/openai_endpoint.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontends/http/http_frontend.h"
#include "frontends/http/testing/served_models.h"

namespace nereid {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kNames[] = R"(
parameters { key: "openai.text_input" value { string_value: "INPUT0" } }
parameters { key: "openai.text_output" value { string_value: "OUTPUT0" } }
parameters { key: "openai.chat_template" value { string_value: "plain" } }
input [ { name: "INPUT0" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_STRING dims: [ 1 ] } ]
)";
constexpr char kHundredTimes[] = R"(
backend: "testing"
model_transaction_policy { decoupled: true }
parameters { key: "behaviour" value { string_value: "decoupled" } }
parameters { key: "responses" value { string_value: "100" } }
)";

class OpenAiEndpointTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    HttpFrontendOptions frontend;
    frontend.limits.max_input_size = 4 << 20;
    frontend.max_waiting_bytes = 1 << 20;
    served_ = new ServedModels(
        {{"echo", absl::StrCat("backend: \"identity\"\n", kNames)},
         {"flood", absl::StrCat(kHundredTimes, kNames)},
         {"wrong", absl::StrCat("backend: \"identity\"\n", kNames,
                                "parameters { key: \"openai.embeddings\" value { string_value: "
                                "\"nothing\" } }")}},
        frontend);
  }
  static void TearDownTestSuite() { delete served_; }
  // No test may leave requests or bytes in flight.
  void TearDown() override { EXPECT_TRUE(served_->BecomesIdle()); }

  static std::string Request(const std::string& route, const std::string& body,
                             const std::string& headers = "") {
    return ServedModels::PostRequest(absl::StrCat("/v1/", route), body, headers);
  }
  static ReceivedResponse Post(const std::string& route, const std::string& body,
                               const std::string& headers = "") {
    return served_->Post(absl::StrCat("/v1/", route), body, headers);
  }
  static ReceivedResponse Get(const std::string& path) { return served_->Get(path); }

  static ServedModels* served_;
};
ServedModels* OpenAiEndpointTest::served_ = nullptr;

TEST_F(OpenAiEndpointTest, Models) {
  const auto list = Get("/v1/models");
  EXPECT_EQ(list.status, 200);
  EXPECT_THAT(list.body, StartsWith(R"({"object":"list","data":[{"id":"echo","object":"model",)"));
  EXPECT_THAT(list.body, HasSubstr(R"({"id":"flood",)"));
  EXPECT_THAT(list.body, Not(HasSubstr("wrong")));
  EXPECT_THAT(Get("/v1/models/echo").body, StartsWith(R"({"id":"echo","object":"model",)"));
  EXPECT_EQ(Get("/v1/models/nobody").status, 404);
  const auto wrong = Get("/v1/models/wrong");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("the parameter 'openai.embeddings' of model 'wrong' is"));
}

TEST_F(OpenAiEndpointTest, OneObject) {
  const auto response = Post("completions", R"({"model":"echo","prompt":"hello"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Header("content-type"), "application/json");
  EXPECT_THAT(response.body, StartsWith(R"({"id":"cmpl-)"));
  EXPECT_THAT(response.body, EndsWith(R"("choices":[{"index":0,"text":"hello","logprobs":null,)"
                                      R"("finish_reason":"stop"}],"usage":null})"));
  const auto chat =
      Post("chat/completions", R"({"model":"echo","messages":[{"role":"user","content":"hi"}]})");
  EXPECT_THAT(chat.body, HasSubstr(R"("content":"user: hi\nassistant:")"));
  std::string hundred;
  for (int i = 0; i < 100; ++i) hundred += "ab";
  EXPECT_THAT(Post("completions", R"({"model":"flood","prompt":"ab"})").body,
              HasSubstr(absl::StrCat("\"text\":\"", hundred, "\"")));
}

TEST_F(OpenAiEndpointTest, Events) {
  LoopbackClient client = served_->Connect();
  for (int i = 0; i < 2; ++i) {  // two streams on one connection
    const auto response =
        client.RoundTrip(Request("completions", R"({"model":"echo","prompt":"x","stream":true})"));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.Header("content-type"), "text/event-stream; charset=utf-8");
    EXPECT_THAT(response.body, StartsWith("data: {\"id\":\"cmpl-"));
    EXPECT_THAT(response.body, EndsWith("\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"));
  }
}

TEST_F(OpenAiEndpointTest, LargeBodiesAndAnswers) {
  const std::string text(1'000'000, 'x');
  const std::string body = absl::StrCat(R"({"model":"echo","prompt":")", text, "\"");
  EXPECT_THAT(Post("completions", body + "}").body, HasSubstr(text));
  EXPECT_THAT(Post("completions", body + ",\"stream\":true}").body, HasSubstr(text));
}

TEST_F(OpenAiEndpointTest, ASlowReaderHoldsTheModelBack) {
  LoopbackClient client = served_->Connect();
  const std::string text(1'000'000, 'x');
  client.Send(Request("completions",
                      absl::StrCat(R"({"model":"flood","stream":true,"prompt":")", text, "\"}")));
  EXPECT_EQ(client.ReadHead().status, 200);
  uint64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Post("completions", R"({"model":"echo","prompt":"x"})").status, 200);
    most = std::max(most, served_->server()->in_flight_bytes()->used());
  }
  // Enough for the request, the events that may wait, and those being made and sent.
  EXPECT_LT(most, 8'000'000u);
  for (int i = 0; i < 100; ++i) ASSERT_GT(client.ReadChunk().size(), text.size()) << i;
}

TEST_F(OpenAiEndpointTest, ErrorsHaveOneForm) {
  const auto error = [](const ReceivedResponse& response, int status) {
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(response.Header("content-type"), "application/json");
    EXPECT_THAT(response.body, StartsWith(R"({"error":{"message":")"));
    return response.body;
  };
  EXPECT_THAT(error(Post("completions", R"({"model":"nobody","prompt":"x"})"), 404),
              HasSubstr(R"("code":"model_not_found")"));
  EXPECT_THAT(error(Post("completions", R"({"model":"echo","prompt":"x","logprobs":1})"), 400),
              HasSubstr(R"("param":"logprobs")"));
  error(Post("completions", "{"), 400);
  error(Post("completions", "{}", "Content-Encoding: gzip\r\n"), 400);
  error(Get("/v1/completions"), 405);
  error(Get("/v1/nowhere"), 404);
  // Refused by the transport, before the body is there.
  EXPECT_THAT(error(Post("completions", std::string((4 << 20) + 1, ' ')), 400),
              HasSubstr("--http-max-input-size"));
  EXPECT_THAT(Get("/v2/nowhere").body, StartsWith(R"({"error":")"));
}

}  // namespace
}  // namespace nereid
