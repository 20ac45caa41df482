// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_answer.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/openai/openai_testing.h"
#include "memory/output_allocator.h"

namespace nereid {
namespace {

using openai_testing::MakeEmbeddingModel;
using openai_testing::MakeModelWithLogprobs;
using openai_testing::MakeTextModel;
using testing::HasSubstr;

class OpenAiAnswerTest : public testing::Test {
 protected:
  void Begin(OpenAiRoute route, const OpenAiSettings& settings) {
    logprobs_ = settings.logprobs;
    model_ = route == OpenAiRoute::kEmbeddings ? MakeEmbeddingModel()
             : logprobs_                       ? MakeModelWithLogprobs()
                                               : MakeTextModel();
    answer_.emplace(route, settings, *OpenAiModel::Of(model_->config()),
                    OpenAiAnswer::About{"id-1", "m", 17});
  }

  void AddOutput(InferResponse* response, const char* name, DataType type, int64_t elements,
                 const std::string& bytes) {
    ResponseOutput* const output = *response->AddOutput(name, type, {elements});
    ASSERT_TRUE(output->Allocate(bytes.size(), MemoryPlace{}).ok());
    if (!bytes.empty()) std::memcpy(output->buffer().base, bytes.data(), bytes.size());
  }

  // A response with these texts, and as many tokens.
  absl::Status Add(const std::vector<std::string>& texts, const std::string& reason = "") {
    InferResponse response(nullptr, model_, "", &allocator_, nullptr);
    std::string bytes, reasons;
    for (const std::string& text : texts) {
      AppendBytesElement(text, &bytes);
      AppendBytesElement(reason, &reasons);
    }
    const auto count = static_cast<int64_t>(texts.size());
    AddOutput(&response, "text_output", DataType::kBytes, count, bytes);
    AddOutput(&response, "finish_reason", DataType::kBytes, count, reasons);
    if (logprobs_) {
      std::string elements;
      for (const std::string& text : texts) {
        AppendBytesElement(
            absl::StrCat(R"([{"7":{"logprob":-0.5,"decoded_token":")", text, R"("}}])"), &elements);
      }
      AddOutput(&response, "logprobs", DataType::kBytes, count, elements);
    }
    const uint32_t prompt = 3, tokens = 2;
    AddOutput(&response, "num_input_tokens", DataType::kUint32, 1,
              std::string(reinterpret_cast<const char*>(&prompt), sizeof(prompt)));
    AddOutput(&response, "num_output_tokens", DataType::kUint32, 1,
              std::string(reinterpret_cast<const char*>(&tokens), sizeof(tokens)));
    return answer_->Add(response, &events_);
  }

  absl::Status AddVectors(const std::vector<float>& values) {
    InferResponse response(nullptr, model_, "", &allocator_, nullptr);
    AddOutput(
        &response, "vector", DataType::kFp32, static_cast<int64_t>(values.size()),
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    return answer_->Add(response, &events_);
  }

  std::string Json() {
    std::string json;
    const absl::Status written = answer_->AppendJson(&json);
    return written.ok() ? json : std::string(written.message());
  }

  std::shared_ptr<ServingModel> model_;
  std::optional<OpenAiAnswer> answer_;
  std::string events_;
  bool logprobs_ = false;  // each text is a token
  HeapOutputAllocator allocator_{nullptr};
};

TEST_F(OpenAiAnswerTest, PartsBecomeOneText) {
  Begin(OpenAiRoute::kCompletions, {});
  ASSERT_TRUE(Add({"Hel"}, "None").ok());
  ASSERT_TRUE(Add({"lo"}, "length").ok());
  EXPECT_EQ(Json(), R"({"id":"id-1","object":"text_completion","created":17,"model":"m","choices":)"
                    R"([{"index":0,"text":"Hello","logprobs":null,"finish_reason":"length"}],)"
                    R"("usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}})");
  EXPECT_EQ(events_, "");
}

TEST_F(OpenAiAnswerTest, AChat) {
  Begin(OpenAiRoute::kChat, {});
  ASSERT_TRUE(Add({"Hi"}).ok());
  EXPECT_THAT(Json(), HasSubstr(R"("object":"chat.completion",)"));
  EXPECT_THAT(Json(), HasSubstr(R"("message":{"role":"assistant","content":"Hi","refusal":null},)"
                                R"("logprobs":null,"finish_reason":"stop"})"));
}

TEST_F(OpenAiAnswerTest, NoResponseIsAnEmptyText) {
  Begin(OpenAiRoute::kCompletions, {});
  EXPECT_THAT(Json(), HasSubstr(R"("text":"","logprobs":null,"finish_reason":"stop"}],)"
                                R"("usage":null})"));
}

TEST_F(OpenAiAnswerTest, AStreamOfAChat) {
  OpenAiSettings settings;
  settings.stream = settings.include_usage = true;
  Begin(OpenAiRoute::kChat, settings);
  answer_->AppendFirst(&events_);
  const std::string head =
      R"(data: {"id":"id-1","object":"chat.completion.chunk","created":17,"model":"m","choices":)";
  const std::string first = absl::StrCat(
      head, R"([{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,)",
      R"("finish_reason":null}],"usage":null})", "\n\n");
  EXPECT_EQ(events_, first);
  events_.clear();
  ASSERT_TRUE(Add({""}).ok());
  EXPECT_EQ(events_, "") << "a text without a character is no event";
  ASSERT_TRUE(Add({"a\n"}, "stop").ok());
  EXPECT_EQ(events_, absl::StrCat(head, R"([{"index":0,"delta":{"content":"a\n"},"logprobs":null,)",
                                  R"("finish_reason":null}],"usage":null})", "\n\n"));
  events_.clear();
  answer_->AppendLast(&events_);
  EXPECT_EQ(events_,
            absl::StrCat(head, R"([{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}])",
                         R"(,"usage":null})", "\n\n", head, R"([],"usage":{"prompt_tokens":3,)",
                         R"("completion_tokens":4,"total_tokens":7}})", "\n\ndata: [DONE]\n\n"));
}

TEST_F(OpenAiAnswerTest, AStreamOfACompletionWithTwoChoices) {
  OpenAiSettings settings;
  settings.stream = true;
  settings.choices = 2;
  Begin(OpenAiRoute::kCompletions, settings);
  answer_->AppendFirst(&events_);
  EXPECT_EQ(events_, "");
  ASSERT_TRUE(Add({"a", "b"}).ok());
  EXPECT_THAT(events_, HasSubstr(R"({"index":0,"text":"a","logprobs":null,"finish_reason":null})"));
  EXPECT_THAT(events_, HasSubstr(R"({"index":1,"text":"b","logprobs":null,"finish_reason":null})"));
  EXPECT_THAT(events_, Not(HasSubstr("usage")));
}

TEST_F(OpenAiAnswerTest, LogprobsOfAWholeAnswer) {
  OpenAiSettings settings;
  settings.logprobs = true;
  settings.choices = 2;
  Begin(OpenAiRoute::kCompletions, settings);
  ASSERT_TRUE(Add({"a", "bc"}).ok());
  ASSERT_TRUE(Add({"d", ""}).ok());
  EXPECT_THAT(Json(),
              HasSubstr(R"("text":"ad","logprobs":{"tokens":["a","d"],"token_logprobs":[-0.5,)"
                        R"(-0.5],"top_logprobs":null,"text_offset":[0,1]},)"));
  EXPECT_THAT(Json(), HasSubstr(R"("text":"bc",)"));
}

TEST_F(OpenAiAnswerTest, LogprobsOfAStreamComeWithTheirText) {
  OpenAiSettings settings;
  settings.stream = settings.logprobs = true;
  Begin(OpenAiRoute::kChat, settings);
  ASSERT_TRUE(Add({"a"}).ok());
  EXPECT_THAT(events_, HasSubstr(R"("delta":{"content":"a"},"logprobs":{"content":[{"token":"a",)"
                                 R"("logprob":-0.5,"bytes":[97],"top_logprobs":[]}],)"
                                 R"("refusal":null},"finish_reason":null})"));
  events_.clear();
  ASSERT_TRUE(Add({""}).ok());
  EXPECT_THAT(events_, HasSubstr(R"("delta":{"content":""},"logprobs":{"content":[{"token":"",)"));
  events_.clear();
  answer_->AppendLast(&events_);
  EXPECT_THAT(events_, HasSubstr(R"("delta":{},"logprobs":null,"finish_reason":"stop")"));
}

TEST_F(OpenAiAnswerTest, LogprobsThatCannotBeRead) {
  OpenAiSettings settings;
  settings.logprobs = true;
  Begin(OpenAiRoute::kChat, settings);
  EXPECT_THAT(std::string(Add({R"(", "a": 1)"}).message()),
              testing::StartsWith("model 'm' sent an output "));
}

TEST_F(OpenAiAnswerTest, AModelThatSendsAnotherNumberOfTexts) {
  Begin(OpenAiRoute::kCompletions, {});
  const absl::Status error = Add({"a", "b"});
  EXPECT_EQ(error.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(error.message(),
            "model 'm' sent an output 'text_output' that does not hold 1 text: each response "
            "should hold as many as the request asks for");
}

TEST_F(OpenAiAnswerTest, Embeddings) {
  OpenAiSettings settings;
  settings.texts = 2;
  Begin(OpenAiRoute::kEmbeddings, settings);
  EXPECT_EQ(Json(), "model 'm' sent no embeddings");
  EXPECT_FALSE(AddVectors({1, 2, 3}).ok());
  ASSERT_TRUE(AddVectors({1, 2, 3, 0.5}).ok());
  EXPECT_EQ(Json(),
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0,2.0]},)"
            R"({"object":"embedding","index":1,"embedding":[3.0,0.5]}],"model":"m","usage":null})");
  EXPECT_FALSE(AddVectors({1, 2, 3, 4}).ok()) << "a second response";
}

TEST_F(OpenAiAnswerTest, EmbeddingsInBase64AndWithoutNumber) {
  OpenAiSettings settings;
  Begin(OpenAiRoute::kEmbeddings, settings);
  EXPECT_THAT(AddVectors({1, NAN}).message(), HasSubstr("not finite"));
  settings.base64 = true;
  Begin(OpenAiRoute::kEmbeddings, settings);
  ASSERT_TRUE(AddVectors({1, 2}).ok());
  EXPECT_THAT(Json(), HasSubstr(R"("embedding":"AACAPwAAAEA="})"));
}

}  // namespace
}  // namespace nereid
