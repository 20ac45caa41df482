// SPDX-License-Identifier: Apache-2.0
#include "options/parse.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "options/command_flags.h"
#include "options/help_text.h"
#include "options/probe_target.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Values {
  bool loud = false;
  int count = 3;
  std::string file;
  std::string json = "none";
  std::vector<std::string> names;
  std::vector<std::string> words;
};

CommandTable Table(Values* v, bool repeated = false) {
  CommandTable table;
  table.name = "try";
  table.synopsis = "MODEL [options]";
  table.description = {"Tries it."};
  table.flags = {TurnOnFlag("loud", &v->loud, "make a noise"),
                 WholeFlag("count", &v->count, 1, 9, "so many times"),
                 FileFlag("file", &v->file, "what to read"),
                 {"json", "FILE", "", "print JSON", StoreIn(&v->json)},
                 NamesFlag("name", &v->names, "a name")};
  table.flags[2].aliases = {"input"};
  table.flags[3].value_optional = true;
  table.argument = {"MODEL",
                    [v](absl::string_view word) {
                      v->words.emplace_back(word);
                      return absl::OkStatus();
                    },
                    repeated};
  table.exit_status = "0: tried.";
  return table;
}

std::string ErrorOf(const std::vector<std::string>& args) {
  Values values;
  return std::string(ParseCommandArguments(Table(&values), args).message());
}

TEST(ParseTest, BothFormsOfAValue) {
  Values values;
  const absl::Status parsed = ParseCommandArguments(
      Table(&values), {"m", "--count", "4", "--file=f", "--name", "a", "--name=b", "--loud"});
  ASSERT_TRUE(parsed.ok()) << parsed;
  EXPECT_EQ(values.count, 4);
  EXPECT_EQ(values.file, "f");
  EXPECT_TRUE(values.loud);
  EXPECT_THAT(values.names, ElementsAre("a", "b"));
  EXPECT_THAT(values.words, ElementsAre("m"));
}

TEST(ParseTest, AValueMayBeLeftOutOnlyWhereThatMeansSomething) {
  Values alone, with;
  ASSERT_TRUE(ParseCommandArguments(Table(&alone), {"--json", "m"}).ok());
  EXPECT_EQ(alone.json, "");
  EXPECT_THAT(alone.words, ElementsAre("m"));
  ASSERT_TRUE(ParseCommandArguments(Table(&with), {"--json=f"}).ok());
  EXPECT_EQ(with.json, "f");
  EXPECT_EQ(ErrorOf({"--count"}), "--count needs a value: --count=N");
  EXPECT_EQ(ErrorOf({"--file", "--loud"}), "--file needs a value: --file=FILE");
  EXPECT_EQ(ErrorOf({"--loud=1"}), "--loud takes no value");
}

TEST(ParseTest, OtherNamesOfAnOption) {
  Values values;
  ASSERT_TRUE(ParseCommandArguments(Table(&values), {"--input=g"}).ok());
  EXPECT_EQ(values.file, "g");
}

TEST(ParseTest, TheNearestNameIsOffered) {
  EXPECT_EQ(ErrorOf({"--conut=4"}), "unknown option --conut; did you mean --count?");
  EXPECT_EQ(ErrorOf({"--hepl"}), "unknown option --hepl; did you mean --help?");
  EXPECT_EQ(ErrorOf({"--cou=4"}), "unknown option --cou; did you mean --count?");
  EXPECT_EQ(ErrorOf({"--quite-another"}), "unknown option --quite-another");
  EXPECT_EQ(ErrorOf({"-c"}), "unknown option -c");
}

TEST(ParseTest, WordsWithoutAnOption) {
  Values several, none;
  EXPECT_EQ(ErrorOf({"m", "n"}), "one MODEL at a time, not also n");
  ASSERT_TRUE(ParseCommandArguments(Table(&several, /*repeated=*/true), {"m", "n"}).ok());
  EXPECT_THAT(several.words, ElementsAre("m", "n"));
  CommandTable table = Table(&none);
  table.argument = {};
  EXPECT_EQ(std::string(ParseCommandArguments(table, {"m"}).message()),
            "'m' is not an option: every option begins with --");
}

TEST(ParseTest, WhatIsWrongIsOneSentenceAndOneHint) {
  std::ostringstream err;
  EXPECT_EQ(WrongCommandLine("try", absl::InvalidArgumentError("it is wrong"), err), 2);
  EXPECT_EQ(err.str(), "nereid try: it is wrong\n`nereid try --help` lists the options.\n");
}

TEST(ParseTest, HelpIsAskedForInTwoWays) {
  EXPECT_TRUE(AsksForHelp({"m", "--help"}));
  EXPECT_TRUE(AsksForHelp({"-h"}));
  EXPECT_FALSE(AsksForHelp({"m", "--helpful"}));
}

TEST(ParseTest, TheServerTakesBeginningsAndNamesTheOption) {
  int count = 0, counter = 0;
  const std::vector<FlagGroup> table = {
      {"Group",
       {WholeFlag("count", &count, 1, 9, ""),
        WholeFlag("counter", &counter, 1, 9, ""),
        {"word", "<string>", "", "", [](absl::string_view) { return absl::OkStatus(); }}}}};
  const auto parsed = ParseServerLine(table, {"--count=2", "--w", "--x", "rest"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(count, 2);
  EXPECT_THAT(parsed->names, ElementsAre("count", "word"));
  EXPECT_THAT(parsed->arguments, ElementsAre("rest"));
  EXPECT_THAT(std::string(ParseServerLine(table, {"--cou=2"}).status().message()),
              HasSubstr("ambiguous; it may mean: --count --counter"));
  EXPECT_THAT(std::string(ParseServerLine(table, {"--count=x"}).status().message()),
              HasSubstr("Bad option: \"--count\".\n"));
}

TEST(HelpTextTest, NamesEverythingThatTheTableHas) {
  Values values;
  const std::string help = CommandHelp(Table(&values));
  EXPECT_EQ(help,
            "Usage: nereid try MODEL [options]\n"
            "\n"
            "Tries it.\n"
            "\n"
            "  --loud         make a noise\n"
            "  --count=N      so many times (default: 3)\n"
            "  --file=FILE    what to read\n"
            "  --json[=FILE]  print JSON\n"
            "  --name=NAME    a name\n"
            "  --help         print this text and exit\n"
            "\n"
            "Exit status: 0: tried.\n");
}

TEST(HelpTextTest, LinesAreNotWiderThanATerminal) {
  const std::string words = absl::StrCat("word", " and word", " and word", " and word");
  EXPECT_EQ(Wrapped(words, 2, 16), "word and word\n  and word and\n  word");
  const std::string lines =
      OptionLines({{"short", "", "", "help", nullptr},
                   {"an-option-that-has-a-very-long-name", "", "", "help", nullptr}});
  EXPECT_EQ(lines,
            "  --short  help\n"
            "  --an-option-that-has-a-very-long-name\n"
            "           help\n");
}

TEST(HelpTextTest, CellsOfAPage) {
  EXPECT_EQ(MarkdownRows({{"mode", "a|b", "a", "One of two.", nullptr}}),
            "| `--mode=a\\|b` | a | One of two. |\n");
  EXPECT_THAT(MarkdownRows({}), IsEmpty());
}

TEST(ProbeTargetTest, TimeoutsAndUrls) {
  Duration timeout = std::chrono::seconds(5);
  const Flag flag = TimeoutFlag(&timeout, 60, "patience");
  EXPECT_EQ(flag.default_text, "5");
  EXPECT_TRUE(flag.set("0.5").ok());
  EXPECT_EQ(timeout, std::chrono::milliseconds(500));
  EXPECT_THAT(std::string(flag.set("61").message()), EndsWith("and at most 60"));
  EXPECT_EQ(UsualHttpTarget().Url(), "http://127.0.0.1:8000");
  EXPECT_EQ(UsualGrpcTarget().Url(), "grpc://127.0.0.1:8001");
}

}  // namespace
}  // namespace nereid
