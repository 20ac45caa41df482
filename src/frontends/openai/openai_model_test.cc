// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/openai/openai_testing.h"

namespace nereid {
namespace {

using openai_testing::EmbeddingConfig;
using openai_testing::Input;
using openai_testing::Output;
using openai_testing::TextConfig;
using testing::ElementsAre;
using testing::HasSubstr;

OpenAiModel LooksLike(const CompiledModel& config) {
  const auto model = OpenAiModel::Of(config);
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *model : OpenAiModel();
}

TEST(OpenAiModelTest, TheTensorsOfVllmServeCompletions) {
  const CompiledModel config = TextConfig();
  const OpenAiModel model = LooksLike(config);
  EXPECT_TRUE(model.completions);
  EXPECT_FALSE(model.chat);
  EXPECT_FALSE(model.embeddings);
  EXPECT_EQ(model.stream, &config.inputs[1]);
  EXPECT_TRUE(model.Fills(&config.inputs[6]));
}

TEST(OpenAiModelTest, AChatNeedsATemplateOrMessages) {
  EXPECT_TRUE(LooksLike(TextConfig({{kOpenAiChatTemplate, "llama3"}})).chat);
  CompiledModel config = TextConfig();
  config.inputs[0].optional = true;
  config.inputs.push_back(Input("messages", DataType::kBytes));
  EXPECT_TRUE(LooksLike(config).completions);
  EXPECT_TRUE(LooksLike(config).chat);
  config.inputs[0].optional = false;  // nobody would fill it in a chat
  EXPECT_FALSE(LooksLike(config).chat);
  EXPECT_TRUE(LooksLike(config).completions);
  config.inputs.erase(config.inputs.begin());
  EXPECT_TRUE(LooksLike(config).chat);
  EXPECT_FALSE(LooksLike(config).completions);
}

TEST(OpenAiModelTest, TensorsMayHaveOtherNames) {
  CompiledModel config;
  config.name = "m";
  config.inputs = {Input("PROMPT", DataType::kBytes, false)};
  config.outputs = {Output("TEXT", DataType::kBytes)};
  EXPECT_FALSE(LooksLike(config).offered());
  config.parameters = {{kOpenAiTextInput, "PROMPT"}, {kOpenAiTextOutput, "TEXT"}};
  EXPECT_TRUE(LooksLike(config).completions);
}

TEST(OpenAiModelTest, AnInputThatNobodyFillsIsInTheWay) {
  CompiledModel config = TextConfig();
  config.inputs.push_back(Input("image", DataType::kFp32, /*optional=*/false));
  EXPECT_FALSE(LooksLike(config).offered());
  config.inputs.back() = Input("max_tokens", DataType::kInt32, /*optional=*/false);
  EXPECT_TRUE(LooksLike(config).completions);
  // Several texts at a time, or no text at all.
  config.inputs[0].dims = {2};
  EXPECT_FALSE(LooksLike(config).offered());
}

TEST(OpenAiModelTest, Embeddings) {
  CompiledModel config = EmbeddingConfig();
  EXPECT_TRUE(LooksLike(config).embeddings);
  EXPECT_FALSE(LooksLike(config).completions);
  config.decoupled = true;
  EXPECT_FALSE(LooksLike(config).offered());
}

TEST(OpenAiModelTest, WrongParametersAreTold) {
  const auto error = [](openai_testing::Parameters parameters) {
    return std::string(OpenAiModel::Of(TextConfig(std::move(parameters))).status().message());
  };
  EXPECT_EQ(error({{kOpenAiChatTemplate, "jinja"}}),
            "the parameter 'openai.chat_template' of model 'm' is 'jinja', but should be chatml, "
            "llama3, mistral or plain");
  EXPECT_THAT(error({{kOpenAiTextInput, "stream"}}), HasSubstr("should be the name of an input"));
  EXPECT_THAT(error({{kOpenAiEmbeddings, "text_output"}}),
              HasSubstr("should be the name of an output of type FP32"));
}

TEST(OpenAiModelTest, FieldsThatItTakes) {
  const OpenAiModel model = LooksLike(TextConfig({{kOpenAiTakes, "top_k, n,logit_bias"}}));
  EXPECT_THAT(model.takes, ElementsAre("logit_bias", "n", "top_k"));
  EXPECT_TRUE(model.Takes("n"));
  EXPECT_FALSE(model.Takes("top"));
}

}  // namespace
}  // namespace nereid
