// SPDX-License-Identifier: Apache-2.0
#include "documents/completed_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using Kind = CompletedValue::Kind;

CommandTable Table(const char* name, CommandArgument argument) {
  CommandTable table;
  table.name = name;
  table.flags = {{"all", "", "", "all; and more", nullptr},
                 {"in", "FILE", "", "input", nullptr},
                 {"n", "N", "1", "how many", nullptr},
                 {"json", "FILE", "", "print JSON", nullptr}};
  table.flags[2].repeated = true;
  table.flags[3].value_optional = true;
  table.argument = std::move(argument);
  return table;
}

ProgramText Program() {
  Flag models = {"models", kFolderArgument, "", "Folder; and more.", nullptr};
  models.repeated = true;
  return {"1.2.3",
          {{"Group",
            {{"help", "", "", "Print this. And exit.", nullptr},
             {"port", "<integer>", "1", "Port.", nullptr},
             models,
             {"log", kFileArgument, "", "File", nullptr},
             {"mode", "<string>", "a", "One of two.", nullptr, {"a", "b"}}}}},
          {Table("try", {"DIR", nullptr, true}),
           Table("shell", {"SHELL", nullptr, false, {"bash", "zsh"}}), Table("plain", {})}};
}

TEST(CompletedWordsTest, OptionsOfTheServer) {
  const std::vector<CompletedOption> options = CompletedOptions(Program());
  ASSERT_EQ(options.size(), 5u);
  EXPECT_EQ(options[0].summary, "Print this");
  EXPECT_EQ(options[0].value.kind, Kind::kNone);
  EXPECT_EQ(options[1].summary, "Port");
  EXPECT_EQ(options[1].value.kind, Kind::kAnything);
  EXPECT_FALSE(options[1].repeated);
  EXPECT_EQ(options[2].value.kind, Kind::kFolder);
  EXPECT_TRUE(options[2].repeated);
  EXPECT_EQ(options[3].value.kind, Kind::kFile);
  EXPECT_EQ(options[4].value.kind, Kind::kChoice);
  EXPECT_THAT(options[4].value.choices, ElementsAre("a", "b"));
}

TEST(CompletedWordsTest, OptionsOfACommand) {
  const std::vector<CompletedCommand> commands = CompletedCommands(Program());
  ASSERT_EQ(commands.size(), 3u);
  const std::vector<CompletedOption>& options = commands[0].options;
  ASSERT_EQ(options.size(), 5u);
  EXPECT_EQ(options[0].name, "help");
  EXPECT_EQ(options[1].name, "all");
  EXPECT_EQ(options[1].value.kind, Kind::kNone);
  EXPECT_EQ(options[2].name, "in");
  EXPECT_EQ(options[2].value.kind, Kind::kFile);
  EXPECT_FALSE(options[2].repeated);
  EXPECT_EQ(options[3].name, "n");
  EXPECT_EQ(options[3].value.kind, Kind::kAnything);
  EXPECT_TRUE(options[3].repeated);
  EXPECT_TRUE(options[4].value_optional);
}

TEST(CompletedWordsTest, ArgumentsOfACommand) {
  const std::vector<CompletedCommand> commands = CompletedCommands(Program());
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].argument.kind, Kind::kFolder);
  EXPECT_THAT(commands[1].argument.choices, ElementsAre("bash", "zsh"));
  EXPECT_EQ(commands[2].argument.kind, Kind::kNone);
}

TEST(CompletedWordsTest, QuotesEndNoText) { EXPECT_EQ(Quoted("it's"), "'it'\\''s'"); }

}  // namespace
}  // namespace nereid
