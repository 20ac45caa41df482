#include "documents/usage_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kUsage[] =
    "Usage: nereid try [options] DIR\n"
    "\n"
    "Tries a model,\n"
    "and prints what it answers.\n"
    "\n"
    "Opens no port.\n"
    "\n"
    "  --json              print JSON\n"
    "  --input=FILE        a request, as clients\n"
    "                      send it\n"
    "  --backend-directory=DIR, --backend-config=NAME,KEY=VALUE\n"
    "                      as options of the server\n"
    "\n"
    "Exit status: 0: good;\n"
    "1: bad.\n";

TEST(UsageTextTest, IsReadBackIntoItsParts) {
  const UsageText usage = ParseUsage(kUsage);
  EXPECT_EQ(usage.synopsis, "nereid try [options] DIR");
  EXPECT_THAT(usage.paragraphs,
              ElementsAre("Tries a model, and prints what it answers.", "Opens no port."));
  EXPECT_EQ(usage.exit_status, "0: good; 1: bad.");
  ASSERT_EQ(usage.options.size(), 3u);
  EXPECT_THAT(usage.options[0].spellings, ElementsAre("--json"));
  EXPECT_EQ(usage.options[0].help, "print JSON");
  EXPECT_EQ(usage.options[1].help, "a request, as clients send it");
  EXPECT_THAT(usage.options[2].spellings,
              ElementsAre("--backend-directory=DIR", "--backend-config=NAME,KEY=VALUE"));
  EXPECT_EQ(usage.options[2].help, "as options of the server");
}

TEST(UsageTextTest, WhatFollowsTheOptionsIsNoneOfThem) {
  const UsageText usage = ParseUsage("  --json  print JSON\nThe end.\n");
  ASSERT_EQ(usage.options.size(), 1u);
  EXPECT_EQ(usage.options[0].help, "print JSON");
  EXPECT_THAT(usage.paragraphs, ElementsAre("The end."));
}

TEST(UsageTextTest, NothingIsNeeded) {
  const UsageText usage = ParseUsage("");
  EXPECT_EQ(usage.synopsis, "");
  EXPECT_THAT(usage.paragraphs, IsEmpty());
  EXPECT_THAT(usage.options, IsEmpty());
}

}  // namespace
}  // namespace nereid
