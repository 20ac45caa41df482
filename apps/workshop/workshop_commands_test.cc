// SPDX-License-Identifier: Apache-2.0
// Every option of every command, as its table has it, in everything that is made from the table.
#include "workshop_commands.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "commands.h"
#include "documents/completion.h"
#include "documents/man_page.h"
#include "documents/print_documents.h"
#include "flags/flag_table.h"
#include "options/help_text.h"
#include "options/parse.h"

namespace nereid {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

ProgramText Program(Settings* settings) {
  return {"1.2.3", MakeFlagTable(settings), AllCommandTables()};
}

std::string OptionsPage() {
  std::ostringstream page;
  PrintOptionsPage(page);
  return page.str();
}

std::string InManPage(absl::string_view text) { return absl::StrReplaceAll(text, {{"-", "\\-"}}); }

// The lines of a completion that belong to the command `name`.
std::string PartOf(const std::string& script, const std::string& begin, const std::string& end) {
  const size_t from = script.find(begin);
  return from == std::string::npos ? "" : script.substr(from, script.find(end, from) - from);
}

// A value that most options take, or at least do not mistake for another option.
std::string SomeValueOf(const Flag& flag) {
  if (!flag.choices.empty()) return flag.choices.back();
  return flag.default_text.empty() ? "1" : flag.default_text;
}

std::string Outcome(const CommandTable& table, const std::vector<std::string>& args) {
  return std::string(ParseCommandArguments(table, args).message());
}

class CommandsTest : public ::testing::TestWithParam<const Command*> {
 protected:
  const CommandTable table_ = GetParam()->in_workshop()
                                  ? FindWorkshopCommand(GetParam()->name)->table()
                                  : GetParam()->table();
};

TEST_P(CommandsTest, IsCalledAsItsTableSays) {
  EXPECT_EQ(table_.name, GetParam()->name);
  EXPECT_EQ(FindCommand(table_.name), GetParam());
  EXPECT_EQ(table_.summary, GetParam()->Summary());
  EXPECT_TRUE(absl::ascii_islower(table_.summary[0]));
  EXPECT_THAT(table_.summary, Not(EndsWith(".")));
  EXPECT_FALSE(table_.description.empty());
  EXPECT_EQ(table_.argument.name.empty(), table_.argument.set == nullptr);
}

TEST_P(CommandsTest, EveryOptionIsInEveryText) {
  Settings settings;
  const ProgramText program = Program(&settings);
  const std::string help = CommandHelp(table_);
  const std::string page = CommandManPage(program, table_);
  const std::string bash =
      PartOf(BashCompletion(program), absl::StrCat("1:", table_.name, ")"), ";;\n      esac");
  const std::string zsh =
      PartOf(ZshCompletion(program), absl::StrCat("      ", table_.name, ")\n"), "return");
  const std::string fish = FishCompletion(program);
  const std::string markdown =
      PartOf(OptionsPage() + "\n## ", absl::StrCat("## nereid ", table_.name, "\n"), "\n## ");
  std::vector<Flag> flags = table_.flags;
  flags.push_back(HelpFlag());
  for (const Flag& flag : flags) {
    const std::string spelling = SpellingOf(flag);
    EXPECT_THAT(help, HasSubstr(absl::StrCat("\n  ", spelling)));
    EXPECT_THAT(page, HasSubstr(absl::StrCat("\\fB\\-\\-", InManPage(flag.name), "\\fR")));
    EXPECT_THAT(bash, ContainsRegex(absl::StrCat("[ ']--", flag.name, "[ =']")));
    EXPECT_THAT(zsh, ContainsRegex(absl::StrCat("--", flag.name, "=?\\[")));
    EXPECT_THAT(fish, HasSubstr(absl::StrCat("__fish_seen_subcommand_from ", table_.name, "' -l ",
                                             flag.name, " ")));
    if (flag.name != "help") {
      EXPECT_THAT(markdown, HasSubstr(absl::StrCat("\n| `", spelling, "` |")));
    }
    EXPECT_FALSE(flag.help.empty()) << flag.name;
    EXPECT_THAT(flag.help, Not(EndsWith("."))) << flag.name;
  }
}

TEST_P(CommandsTest, BothFormsOfEveryOptionParse) {
  for (const Flag& flag : table_.flags) {
    const std::string name = absl::StrCat("--", flag.name);
    if (flag.argument.empty()) {
      EXPECT_EQ(Outcome(table_, {name}), "");
      EXPECT_EQ(Outcome(table_, {name + "=1"}), name + " takes no value");
      continue;
    }
    const std::string value = SomeValueOf(flag);
    const std::string joined = Outcome(table_, {absl::StrCat(name, "=", value)});
    EXPECT_THAT(joined, Not(HasSubstr("unknown option"))) << name;
    if (flag.value_optional) continue;
    EXPECT_EQ(Outcome(table_, {name, value}), joined);
    EXPECT_EQ(Outcome(table_, {name}),
              absl::StrCat(name, " needs a value: ", name, "=", flag.argument));
    for (const std::string& alias : flag.aliases) {
      EXPECT_EQ(Outcome(table_, {absl::StrCat("--", alias, "=", value)}), joined);
    }
  }
}

TEST_P(CommandsTest, EveryMistypedOptionIsAnsweredWithItsName) {
  for (const Flag& flag : table_.flags) {
    EXPECT_EQ(Outcome(table_, {absl::StrCat("--", flag.name, "x")}),
              absl::StrCat("unknown option --", flag.name, "x; did you mean --", flag.name, "?"));
  }
}

TEST_P(CommandsTest, WrongValuesAreOneSentence) {
  for (const Flag& flag : table_.flags) {
    if (flag.argument.empty() || flag.value_optional) continue;
    for (const char* value : {"", "\x01", "-1"}) {
      const std::string said = Outcome(table_, {absl::StrCat("--", flag.name, "=", value)});
      EXPECT_THAT(said, Not(HasSubstr("\n"))) << flag.name;
      if (!said.empty()) {
        EXPECT_THAT(said, HasSubstr(absl::StrCat("--", flag.name)));
      }
    }
  }
}

std::vector<const Command*> AllCommands() {
  std::vector<const Command*> all;
  for (const Command& command : Commands()) all.push_back(&command);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CommandsTest, ::testing::ValuesIn(AllCommands()),
                         [](const ::testing::TestParamInfo<const Command*>& info) {
                           return absl::StrReplaceAll(info.param->name, {{"-", "_"}});
                         });

TEST(WorkshopCommandsTest, AreThoseThatTheProgramLeavesToTheWorkshop) {
  std::vector<std::string> left, here;
  for (const Command& command : Commands()) {
    if (command.in_workshop()) left.emplace_back(command.name);
  }
  for (const WorkshopCommand& command : WorkshopCommands()) here.emplace_back(command.name);
  EXPECT_EQ(here, left);
}

TEST(WorkshopCommandsTest, WhatMayBeGivenSeveralTimesSaysSo) {
  for (const CommandTable& table : AllCommandTables()) {
    for (const Flag& flag : table.flags) {
      if (absl::StrContains(flag.help, "be repeated")) {
        EXPECT_TRUE(flag.repeated) << flag.name;
      }
    }
  }
}

TEST(RunWorkshopTest, RunsACommandOrPrintsItsHelp) {
  std::ostringstream out, err;
  EXPECT_EQ(RunWorkshop("/usr/bin/nereid", {"man", "top", "--help"}, out, err), 0);
  EXPECT_EQ(out.str(), CommandHelp(FindWorkshopCommand("man")->table()));
  out.str("");
  EXPECT_EQ(RunWorkshop("/usr/bin/nereid", {"man", "top"}, out, err), 0);
  EXPECT_THAT(out.str(), HasSubstr(".TH NEREID\\-TOP 1"));
  EXPECT_EQ(err.str(), "");
}

TEST(RunWorkshopTest, SaysWhoseItIs) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{}, {"check"}, {"--help"}}) {
    std::ostringstream out, err;
    EXPECT_EQ(RunWorkshop("nereid-workshop", words, out, err), 2);
    EXPECT_EQ(out.str(), "");
    EXPECT_EQ(err.str(),
              "nereid-workshop: this program is a part of `nereid`, which starts it with a "
              "command\n");
  }
}

}  // namespace
}  // namespace nereid
