// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NotesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  void Write(const char* name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  ModelNotes Read() {
    Result<ModelNotes> notes = ReadModelNotes(folder_);
    EXPECT_TRUE(notes.ok());
    return notes.ok() ? *std::move(notes) : ModelNotes();
  }

  const std::filesystem::path folder_ = ::testing::TempDir() + "generative_notes_test";
};

TEST_F(NotesTest, NoFileSaysNothing) {
  const ModelNotes notes = Read();
  EXPECT_EQ(notes.context, 0);
  EXPECT_THAT(notes.end_tokens, ElementsAre());
  EXPECT_EQ(notes.chat_template, "");
}

TEST_F(NotesTest, GenerationComesBeforeConfig) {
  Write("config.json", R"({"max_position_embeddings": 20, "eos_token_id": 3})");
  EXPECT_EQ(Read().context, 20);
  EXPECT_THAT(Read().end_tokens, ElementsAre(3));
  Write("generation_config.json", R"({"eos_token_id": [4, 5]})");
  EXPECT_THAT(Read().end_tokens, ElementsAre(4, 5));
}

TEST_F(NotesTest, AChatTemplateIsAFileOrAField) {
  Write("tokenizer_config.json", R"({"chat_template": "one"})");
  EXPECT_EQ(Read().chat_template, "one");
  Write("tokenizer_config.json", R"({"chat_template": [{"name": "tool_use", "template": "two"},
                                                       {"name": "default", "template": "three"}]})");
  EXPECT_EQ(Read().chat_template, "three");
  Write("chat_template.jinja", "four");
  EXPECT_EQ(Read().chat_template, "four");
}

TEST_F(NotesTest, WhatIsNoJsonIsAnError) {
  Write("config.json", "{");
  Result<ModelNotes> notes = ReadModelNotes(folder_);
  ASSERT_FALSE(notes.ok());
  EXPECT_THAT(notes.error().message(), HasSubstr("config.json' is no JSON"));
}

TEST(ChatFormatTest, IsKnownByItsMarks) {
  EXPECT_EQ(ChatFormatOf("{% for m in messages %}{{'<|im_start|>' + m.role}}{% endfor %}"),
            "chatml");
  EXPECT_EQ(ChatFormatOf("{{ '<|start_header_id|>' }}"), "llama3");
  EXPECT_EQ(ChatFormatOf("{{ ' [INST] ' + message.content }}"), "mistral");
  EXPECT_EQ(ChatFormatOf("{{ '[INST] <<SYS>>' }}"), "");
  EXPECT_EQ(ChatFormatOf("{{ '[SYSTEM_PROMPT][INST]' }}"), "");
  EXPECT_EQ(ChatFormatOf("<|user|>"), "");
}

}  // namespace
}  // namespace nereid_backend
