// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_request.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "frontends/openai/openai_error.h"
#include "frontends/openai/openai_testing.h"

namespace nereid {
namespace {

using openai_testing::BytesOf;
using openai_testing::EmbeddingConfig;
using openai_testing::Input;
using openai_testing::MakeEmbeddingModel;
using openai_testing::MakeModelWithLogprobs;
using openai_testing::MakeTextModel;
using openai_testing::ReadResult;
using openai_testing::Serve;
using openai_testing::TextConfig;
using openai_testing::TextsOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr OpenAiRoute kCompletions = OpenAiRoute::kCompletions;
constexpr OpenAiRoute kChats = OpenAiRoute::kChat;

// A completion with these further members.
std::string Completion(absl::string_view members = "") {
  return absl::StrCat(R"({"model":"m","prompt":"Hi")", members.empty() ? "" : ",", members, "}");
}
std::string Chat(absl::string_view members = "") {
  return absl::StrCat(R"({"model":"m","messages":[{"role":"user","content":"Hi"}])",
                      members.empty() ? "" : ",", members, "}");
}

std::string TextIn(ReadResult* result, const char* input) {
  const InferInput* const found = result->request.FindInput(input);
  EXPECT_NE(found, nullptr) << input;
  return found == nullptr ? "" : TextsOf(*found).at(0);
}

template <typename T>
T NumberIn(ReadResult* result, const char* input) {
  const InferInput* const found = result->request.FindInput(input);
  T value = 0;
  EXPECT_NE(found, nullptr) << input;
  if (found != nullptr) std::memcpy(&value, BytesOf(*found).data(), sizeof(value));
  return value;
}

// The field that the error of `body` names, and its text.
std::string ErrorOf(OpenAiRoute route, const std::shared_ptr<ServingModel>& model,
                    const std::string& body) {
  const ReadResult result(route, model, body);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kInvalidArgument) << body;
  const std::string json = OpenAiErrorJson(400, result.status);
  const size_t param = json.find(R"("param":)") + 8;
  return absl::StrCat(json.substr(param, json.find(',', param) - param), " ",
                      result.status.message());
}

TEST(OpenAiRequestTest, ACompletionFillsAllInputs) {
  ReadResult result(kCompletions, MakeTextModel(),
                    Completion(R"("stream":true,"stream_options":{"include_usage":true},)"
                               R"("temperature":0.5,"max_tokens":7,"stop":["a","b"],"seed":null,)"
                               R"("user":"me")"));
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(TextIn(&result, "text_input"), "Hi");
  EXPECT_EQ(TextIn(&result, "sampling_parameters"),
            R"({"temperature":0.5,"max_tokens":7,"stop":["a","b"]})");
  EXPECT_EQ(NumberIn<uint8_t>(&result, "stream"), 1);
  EXPECT_EQ(NumberIn<uint8_t>(&result, "exclude_input_in_output"), 1);
  EXPECT_EQ(NumberIn<uint8_t>(&result, "return_num_output_tokens"), 1);
  EXPECT_TRUE(result.settings.stream);
  EXPECT_TRUE(result.settings.include_usage);
  ASSERT_EQ(result.request.parameters().size(), 1u);
  EXPECT_EQ(result.request.parameters()[0].name, "user");
}

TEST(OpenAiRequestTest, FieldsGoToInputsOfTheirOwn) {
  CompiledModel config;
  config.name = "m";
  config.max_batch_size = 2;
  config.inputs = {Input("text_input", DataType::kBytes, false),
                   Input("max_tokens", DataType::kInt32, false),
                   Input("temperature", DataType::kFp32),
                   Input("random_seed", DataType::kUint64),
                   Input("top_k", DataType::kInt32),
                   Input("stop_words", DataType::kBytes, true, {kVariableDim})};
  config.outputs = {openai_testing::Output("text_output", DataType::kBytes)};
  const auto model = Serve(config);
  ReadResult result(kCompletions, model,
                    Completion(R"("max_tokens":7,"temperature":0.5,"seed":3,"top_k":9,)"
                               R"("stop":["a","bc"])"));
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(NumberIn<int32_t>(&result, "max_tokens"), 7);
  EXPECT_EQ(NumberIn<float>(&result, "temperature"), 0.5f);
  EXPECT_EQ(NumberIn<uint64_t>(&result, "random_seed"), 3u);
  EXPECT_EQ(NumberIn<int32_t>(&result, "top_k"), 9);
  const InferInput* const stop = result.request.FindInput("stop_words");
  ASSERT_NE(stop, nullptr);
  EXPECT_THAT(TextsOf(*stop), ElementsAre("a", "bc"));
  EXPECT_THAT(stop->sent_shape(), ElementsAre(1, 2));
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion()),
              StartsWith(R"("max_tokens" model 'm' needs)"));
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion(R"("max_tokens":7,"top_p":0.5)")),
              StartsWith(R"("top_p" model 'm' does not take the field 'top_p')"));
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion(R"("max_tokens":7,"seed":-1)")),
              HasSubstr("a value of type UINT64 for the input 'random_seed'"));
}

TEST(OpenAiRequestTest, MessagesBecomeAPrompt) {
  const auto model = MakeTextModel({{kOpenAiChatTemplate, "plain"}});
  ReadResult result(kChats, model,
                    R"({"model":"m","max_completion_tokens":5,"messages":[)"
                    R"({"role":"developer","content":"Be brief."},)"
                    R"({"role":"user","content":[{"type":"text","text":"a"},)"
                    R"({"type":"text","text":"b"}]}]})");
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(TextIn(&result, "text_input"), "system: Be brief.\nuser: ab\nassistant:");
  EXPECT_EQ(TextIn(&result, "sampling_parameters"), R"({"max_tokens":5})");
  const auto error = [&](const char* messages) {
    return ErrorOf(kChats, model, absl::StrCat(R"({"model":"m","messages":)", messages, "}"));
  };
  EXPECT_THAT(error("[]"), StartsWith(R"("messages")"));
  EXPECT_THAT(error("[1]"), StartsWith(R"("messages[0]")"));
  EXPECT_THAT(error(R"([{"role":"tool","content":"x"}])"), StartsWith(R"("messages[0].role")"));
  EXPECT_THAT(error(R"([{"role":"user","content":"x","name":"y"}])"),
              StartsWith(R"("messages[0].name")"));
  EXPECT_THAT(error(R"([{"role":"user","content":[{"type":"image_url","image_url":{}}]}])"),
              StartsWith(R"("messages[0].content")"));
}

TEST(OpenAiRequestTest, AModelMayTakeTheMessagesThemselves) {
  CompiledModel config = TextConfig();
  config.inputs[0] = Input("messages", DataType::kBytes, false);
  ReadResult result(
      kChats, Serve(config),
      R"({"model":"m","messages":[ {"role":"tool","content":[{"type":"x", "x":1.5}]},)"
      R"({"role":"assistant","content":null,"tool_calls":[]}]})");
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(TextIn(&result, "messages"), R"([{"role":"tool","content":[{"type":"x","x":1.5}]},)"
                                         R"({"role":"assistant","content":null,"tool_calls":[]}])");
}

TEST(OpenAiRequestTest, EachMessageHasARoleAndAContent) {
  CompiledModel config = TextConfig();
  config.inputs[0] = Input("messages", DataType::kBytes, false);
  const auto model = Serve(config);
  const auto error = [&](const char* message) {
    return ErrorOf(
        kChats, model,
        absl::StrCat(R"({"model":"m","messages":[{"role":"user","content":"Hi"},)", message, "]}"));
  };
  for (const char* message : {"1", R"("x")", "null", "[]"}) {
    EXPECT_THAT(error(message), StartsWith(R"("messages[1]")"));
  }
  for (const char* message : {"{}", R"({"content":"x"})", R"({"role":5,"content":"x"})",
                              R"({"role":"","content":"x"})"}) {
    EXPECT_THAT(error(message), StartsWith(R"("messages[1].role")"));
  }
  for (const char* content : {R"("con":1)", R"("content":null)", R"("content":5)",
                              R"("content":["x"])", R"("content":[{"text":"x"}])"}) {
    EXPECT_THAT(error(absl::StrCat(R"({"role":"user",)", content, "}").c_str()),
                StartsWith(R"("messages[1].content")"));
  }
}

TEST(OpenAiRequestTest, TextsAreUtf8) {
  const auto model = MakeTextModel({{kOpenAiChatTemplate, "plain"}});
  for (const char* text : {"\xff", "\\udc00"}) {
    for (const char* body :
         {R"({"model":"m","prompt":"$"})", R"({"model":"m","prompt":"a","stop":"$"})",
          R"({"model":"m","prompt":"a","$":1})"}) {
      EXPECT_THAT(ErrorOf(kCompletions, model, absl::StrReplaceAll(body, {{"$", text}})),
                  HasSubstr("a text that is not UTF-8"));
    }
  }
}

TEST(OpenAiRequestTest, EachFieldIsTakenOrRefused) {
  const auto model = MakeTextModel({{kOpenAiChatTemplate, "plain"}});
  // What asks for nothing is no reason to refuse a request.
  for (const char* nothing :
       {R"("n":1)", R"("logprobs":false)", R"("top_logprobs":0)", R"("tools":[])",
        R"("tool_choice":"none")", R"("parallel_tool_calls":true)", R"("store":false)",
        R"("response_format":{"type":"text"})", R"("modalities":["text"])", R"("logit_bias":{})",
        R"("service_tier":"auto")", R"("audio":null)", R"("verbosity":null)", R"("metadata":{})",
        R"("stream":false)"}) {
    EXPECT_TRUE(ReadResult(kChats, model, Chat(nothing)).status.ok()) << nothing;
  }
  for (const char* name : {"n",
                           "logprobs",
                           "top_logprobs",
                           "tools",
                           "tool_choice",
                           "parallel_tool_calls",
                           "store",
                           "response_format",
                           "modalities",
                           "logit_bias",
                           "service_tier",
                           "audio",
                           "verbosity",
                           "metadata",
                           "functions",
                           "function_call",
                           "prediction",
                           "reasoning_effort",
                           "web_search_options",
                           "prompt_cache_key",
                           "safety_identifier",
                           "unheard_of",
                           "top_k",
                           "suffix",
                           "max_tokens",
                           "temperature",
                           "top_p",
                           "seed",
                           "stop",
                           "presence_penalty",
                           "frequency_penalty",
                           "stream",
                           "stream_options",
                           "user",
                           "echo",
                           "prompt",
                           "input"}) {
    EXPECT_THAT(ErrorOf(kChats, model, Chat(absl::StrCat("\"", name, R"(":["no such value",2])"))),
                StartsWith(absl::StrCat("\"", name, "\" ")))
        << name;
  }
}

TEST(OpenAiRequestTest, AModelMayTakeMore) {
  const auto model = MakeTextModel({{kOpenAiTakes, "n,logit_bias,top_k"}});
  ReadResult result(kCompletions, model, Completion(R"("n":2,"top_k":4,"logit_bias":{"7":-1})"));
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.settings.choices, 2u);
  EXPECT_EQ(TextIn(&result, "sampling_parameters"), R"({"n":2,"top_k":4,"logit_bias":{"7":-1}})");
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion(R"("n":1000)")), StartsWith(R"("n")"));
  // Nobody could tell what they ask for.
  EXPECT_THAT(ErrorOf(kCompletions, MakeTextModel({{kOpenAiTakes, "logprobs"}}),
                      Completion(R"("logprobs":2)")),
              StartsWith(R"("logprobs")"));
}

TEST(OpenAiRequestTest, LogprobsGoToAModelThatTellsThem) {
  const auto model = MakeModelWithLogprobs();
  ReadResult chat(kChats, model, Chat(R"("top_logprobs":3,"logprobs":true)"));
  ASSERT_TRUE(chat.status.ok()) << chat.status;
  EXPECT_TRUE(chat.settings.logprobs);
  EXPECT_EQ(chat.settings.top_logprobs, 3u);
  EXPECT_EQ(TextIn(&chat, "sampling_parameters"), R"({"logprobs":3})");
  ReadResult completion(kCompletions, model, Completion(R"("logprobs":0)"));
  ASSERT_TRUE(completion.status.ok()) << completion.status;
  EXPECT_TRUE(completion.settings.logprobs);
  EXPECT_EQ(TextIn(&completion, "sampling_parameters"), R"({"logprobs":0})");
  ReadResult none(kChats, model, Chat(R"("logprobs":false)"));
  ASSERT_TRUE(none.status.ok()) << none.status;
  EXPECT_FALSE(none.settings.logprobs);
  EXPECT_EQ(TextIn(&none, "sampling_parameters"), "{}");
}

TEST(OpenAiRequestTest, LogprobsThatAreWrong) {
  const auto model = MakeModelWithLogprobs();
  EXPECT_THAT(ErrorOf(kChats, model, Chat(R"("top_logprobs":3)")),
              HasSubstr("'top_logprobs' should be there only if 'logprobs' is true"));
  EXPECT_THAT(ErrorOf(kChats, model, Chat(R"("logprobs":true,"top_logprobs":21)")),
              HasSubstr("'top_logprobs' should be a whole number from 0 to 20"));
  EXPECT_THAT(ErrorOf(kChats, model, Chat(R"("logprobs":5)")), StartsWith(R"("logprobs")"));
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion(R"("logprobs":true)")),
              StartsWith(R"("logprobs")"));
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion(R"("logprobs":1,"echo":true)")),
              HasSubstr("'echo' should be false if 'logprobs' are wanted"));
  EXPECT_THAT(ErrorOf(kCompletions, MakeTextModel(), Completion(R"("logprobs":1)")),
              HasSubstr("model 'm' does not take the field 'logprobs'"));
}

TEST(OpenAiRequestTest, ValuesOutOfRange) {
  const auto model = MakeTextModel();
  for (const char* wrong :
       {R"("temperature":2.5)", R"("temperature":-0.1)", R"("top_p":1.01)", R"("max_tokens":0)",
        R"("max_tokens":1.5)", R"("max_tokens":3000000000)", R"("seed":1e300)",
        R"("presence_penalty":3)", R"("stream_options":{"include_usage":true})",
        R"("stream":true,"stream_options":{"other":true})", R"("echo":true,"stream":true)",
        R"("temperature":NaN)",
        R"("stop":["1","2","3","4","5","6","7","8","9","10","11","12",)"
        R"("13","14","15","16","17"])",
        R"("prompt":"twice")"}) {
    EXPECT_EQ(ReadResult(kCompletions, model, Completion(wrong)).status.code(),
              absl::StatusCode::kInvalidArgument)
        << wrong;
  }
  EXPECT_THAT(ErrorOf(kCompletions, model, R"({"model":"m","prompt":["a","b"]})"),
              StartsWith(R"("prompt" 'prompt' should be one text)"));
  EXPECT_THAT(ErrorOf(kCompletions, model, R"({"model":"m","prompt":[1,2]})"),
              StartsWith(R"("prompt")"));
  EXPECT_TRUE(ReadResult(kCompletions, model, R"({"model":"m","prompt":["a"]})").status.ok());
  EXPECT_THAT(ErrorOf(kCompletions, model, R"({"model":"m"})"), StartsWith(R"("prompt")"));
  EXPECT_THAT(ErrorOf(kCompletions, model, R"({"prompt":"x"})"), StartsWith(R"("model")"));
  EXPECT_THAT(ErrorOf(kCompletions, model, R"([])"), StartsWith("null"));
}

TEST(OpenAiRequestTest, SizesAreBounded) {
  const auto model = MakeTextModel({{kOpenAiTakes, "x"}});
  std::string many;
  for (int i = 0; i < 127; ++i) absl::StrAppend(&many, i == 0 ? "" : ",", "\"f", i, "\":1");
  EXPECT_THAT(ErrorOf(kCompletions, model, Completion(many)), HasSubstr("at most 128 are taken"));
  EXPECT_THAT(
      ErrorOf(kCompletions, model, Completion(absl::StrCat("\"", std::string(2000, 'x'), "\":1"))),
      HasSubstr("a name of 2000 bytes"));
  EXPECT_THAT(
      ErrorOf(kCompletions, model, Completion(R"("user":")" + std::string(2000, 'x') + "\"")),
      StartsWith(R"("user")"));
}

TEST(OpenAiRequestTest, AModelMayNotServeTheRoute) {
  EXPECT_THAT(ErrorOf(kChats, MakeTextModel(), Chat()),
              HasSubstr("model 'm' is not served by /v1/chat/completions"));
  EXPECT_THAT(ErrorOf(kCompletions, MakeEmbeddingModel(), Completion()),
              HasSubstr("is not served by /v1/completions"));
}

TEST(OpenAiRequestTest, Embeddings) {
  const auto model = MakeEmbeddingModel();
  ReadResult one(OpenAiRoute::kEmbeddings, model, R"({"model":"e","input":"a"})");
  ASSERT_TRUE(one.status.ok()) << one.status;
  EXPECT_THAT(one.request.inputs()[0].sent_shape(), ElementsAre(1, 1));
  EXPECT_FALSE(one.settings.base64);
  ReadResult two(OpenAiRoute::kEmbeddings, model,
                 R"({"model":"e","input":["a","b"],"encoding_format":"base64"})");
  ASSERT_TRUE(two.status.ok()) << two.status;
  EXPECT_THAT(two.request.inputs()[0].sent_shape(), ElementsAre(2, 1));
  EXPECT_THAT(TextsOf(two.request.inputs()[0]), ElementsAre("a", "b"));
  EXPECT_EQ(two.settings.texts, 2u);
  EXPECT_TRUE(two.settings.base64);
  for (const char* wrong :
       {R"("input":[])", R"("input":[1,2])", R"("input":[["a"]])", R"("input":"a","dimensions":2)",
        R"("input":"a","encoding_format":1)"}) {
    EXPECT_EQ(
        ReadResult(OpenAiRoute::kEmbeddings, model, absl::StrCat(R"({"model":"e",)", wrong, "}"))
            .status.code(),
        absl::StatusCode::kInvalidArgument)
        << wrong;
  }
}

}  // namespace
}  // namespace nereid
