// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "flags/command_line.h"
#include "flags/flag_table.h"
#include "options/help_text.h"
#include "options/parse.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

TEST(CommandNamesTest, NearOnesAreOffered) {
  EXPECT_EQ(MeantCommand("benhc"), "; did you mean bench?");
  EXPECT_EQ(MeantCommand("serv"), "; did you mean serve?");
  EXPECT_EQ(MeantCommand("quite-another-thing"), "");
  std::ostringstream err;
  EXPECT_EQ(NoSuchCommand("help", "tpo", err), 2);
  EXPECT_EQ(err.str(),
            "nereid help: there is no command 'tpo'; did you mean top?\n"
            "`nereid help` lists the commands.\n");
}

TEST(ServerHelpTest, TheShortOneIsAScreenAndTheLongOneHasEverything) {
  const std::string text = ShortHelp();
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_LE(lines.size(), 50u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  for (const std::string& name : CommandNames()) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n  ", name, " ")));
  }
  Settings settings;
  const std::string all = HelpText("nereid");
  int usual = 0;
  for (const FlagGroup& group : MakeFlagTable(&settings)) {
    for (const Flag& flag : group.flags) {
      EXPECT_THAT(all, HasSubstr(absl::StrCat("\n  ", SpellingOf(flag))));
      if (!flag.usual) continue;
      ++usual;
      EXPECT_THAT(text, HasSubstr(absl::StrCat("\n  ", SpellingOf(flag))));
    }
  }
  EXPECT_EQ(usual, 10);
  EXPECT_THAT(text, HasSubstr("(--help-all lists all):\n  --model-repository="));
  EXPECT_THAT(text, HasSubstr("explicit (--load-model)"));
}

TEST(ServerOptionsTest, EveryMistypedOptionIsAnsweredWithItsName) {
  Settings settings;
  for (const FlagGroup& group : MakeFlagTable(&settings)) {
    for (const Flag& flag : group.flags) {
      const absl::Status status =
          ParseServerLine(MakeFlagTable(&settings), {absl::StrCat("--", flag.name, "x")}).status();
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat("did you mean --", flag.name, "?")));
    }
  }
}

TEST(ServerOptionsTest, WhatMayBeGivenSeveralTimesSaysSo) {
  Settings settings;
  for (const FlagGroup& group : MakeFlagTable(&settings)) {
    for (const Flag& flag : group.flags) {
      if (absl::StrContains(flag.help, "several times")) {
        EXPECT_TRUE(flag.repeated) << flag.name;
      }
    }
  }
}

}  // namespace
}  // namespace nereid
