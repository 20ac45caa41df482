#include "documents/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProgramText PagedProgram() {
  return {"1.2.3",
          {{"Ports", {{"http-port", "<integer>", "8000", "Port to listen on.", nullptr}}}},
          {{"try", "try a model",
            "Usage: nereid try [options] DIR\n\nTries it.\n\n  --in=FILE  \\n ends a line\n\n"
            "Exit status: 0: good.\n"}}};
}

TEST(ManPageTest, ListsOptionsWithTheirDefaults) {
  const std::string page = ProgramManPage(PagedProgram());
  EXPECT_THAT(page, HasSubstr(".TH NEREID 1 \"\" \"Nereid 1.2.3\""));
  EXPECT_THAT(page, HasSubstr(".SS Ports\n.TP\n\\fB\\-\\-http\\-port\\fR=<integer>\n"
                              "Port to listen on. Default: 8000\n"));
  EXPECT_THAT(page, HasSubstr("\\fBnereid\\-try\\fR(1)"));
}

TEST(ManPageTest, ThatOfACommandIsItsUsage) {
  const ProgramText program = PagedProgram();
  const std::string page = CommandManPage(program, program.commands[0]);
  EXPECT_THAT(page, HasSubstr(".TH NEREID\\-TRY 1 "));
  EXPECT_THAT(page, HasSubstr("nereid\\-try \\- try a model\n"));
  EXPECT_THAT(page, HasSubstr(".SH SYNOPSIS\nnereid try [options] DIR\n"));
  EXPECT_THAT(page, HasSubstr(".SH DESCRIPTION\nTries it.\n"));
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
