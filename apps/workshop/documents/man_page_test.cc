// SPDX-License-Identifier: Apache-2.0
#include "documents/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgramText PagedProgram() {
  CommandTable command;
  command.name = "try";
  command.summary = "try a model";
  command.synopsis = "DIR [options]";
  command.description = {"Tries it.", "Again."};
  command.flags = {{"in", "FILE", "", "\\n ends a line", nullptr}};
  command.exit_status = "0: good.";
  return {"1.2.3",
          {{"Ports", {{"http-port", "<integer>", "8000", "Port to listen on.", nullptr}}}},
          {command}};
}

TEST(ManPageTest, ListsOptionsWithTheirDefaults) {
  const std::string page = ProgramManPage(PagedProgram());
  EXPECT_THAT(page, HasSubstr(".TH NEREID 1 \"\" \"Nereid 1.2.3\""));
  EXPECT_THAT(page, HasSubstr(".SS Ports\n.TP\n\\fB\\-\\-http\\-port\\fR=<integer>\n"
                              "Port to listen on. Default: 8000\n"));
  EXPECT_THAT(page, HasSubstr("\\fBnereid\\-try\\fR(1)"));
}

TEST(ManPageTest, ThatOfACommand) {
  const ProgramText program = PagedProgram();
  const std::string page = CommandManPage(program, program.commands[0]);
  EXPECT_THAT(page, HasSubstr(".TH NEREID\\-TRY 1 "));
  EXPECT_THAT(page, HasSubstr("nereid\\-try \\- try a model\n"));
  EXPECT_THAT(page, HasSubstr(".SH SYNOPSIS\nnereid try DIR [options]\n"));
  EXPECT_THAT(page, HasSubstr(".SH DESCRIPTION\nTries it.\n.PP\nAgain.\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-in\\fR=FILE\n\\en ends a line\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n0: good.\n"));
}

TEST(ManPageTest, TextIsNeverARequest) {
  ProgramText program = PagedProgram();
  program.options[0].flags[0].help = ".so /etc/passwd";
  EXPECT_THAT(ProgramManPage(program), Not(HasSubstr("\n.so")));
  program.options[0].flags[0].help = "'quoted' words";
  EXPECT_THAT(ProgramManPage(program), HasSubstr("\n\\&'quoted'"));
}

}  // namespace
}  // namespace nereid
