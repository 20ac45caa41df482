#include "documents/completed_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using Kind = CompletedValue::Kind;

ProgramText Program() {
  return {"1.2.3",
          {{"Group",
            {{"help", "", "", "Print this. And exit.", nullptr},
             {"port", "<integer>", "1", "Port.", nullptr},
             {"models", kFolderArgument, "", "Folder; may be given several times.", nullptr},
             {"log", kFileArgument, "", "File", nullptr},
             {"mode", "<string>", "a", "One of two.", nullptr, {"a", "b"}}}}},
          {{"try", "try a model",
            "Usage: nereid try [options] DIR...\n\n  --all  all; may be repeated\n"
            "  --in=FILE, --n=N  input\n"},
           {"shell", "print", "Usage: nereid shell bash|zsh\n"},
           {"about", "print", "Usage: nereid about [COMMAND]\n"},
           {"plain", "print", "Usage: nereid plain [options]\n"}}};
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

TEST(CompletedWordsTest, OptionsOfACommandComeFromItsUsage) {
  const std::vector<CompletedCommand> commands = CompletedCommands(Program());
  ASSERT_EQ(commands.size(), 4u);
  const std::vector<CompletedOption>& options = commands[0].options;
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].name, "help");
  EXPECT_EQ(options[1].name, "all");
  EXPECT_TRUE(options[1].repeated);
  EXPECT_EQ(options[1].value.kind, Kind::kNone);
  EXPECT_EQ(options[2].name, "in");
  EXPECT_EQ(options[2].value.kind, Kind::kFile);
  EXPECT_EQ(options[3].name, "n");
  EXPECT_EQ(options[3].value.kind, Kind::kAnything);
}

TEST(CompletedWordsTest, ArgumentsOfACommandComeFromItsSynopsis) {
  const std::vector<CompletedCommand> commands = CompletedCommands(Program());
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_EQ(commands[0].argument.kind, Kind::kFolder);
  EXPECT_THAT(commands[1].argument.choices, ElementsAre("bash", "zsh"));
  EXPECT_THAT(commands[2].argument.choices, ElementsAre("try", "shell", "about", "plain"));
  EXPECT_EQ(commands[3].argument.kind, Kind::kNone);
}

TEST(CompletedWordsTest, QuotesEndNoText) { EXPECT_EQ(Quoted("it's"), "'it'\\''s'"); }

}  // namespace
}  // namespace nereid
