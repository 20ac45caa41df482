#include "backends/python/suspects.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using Verdict = Suspects::Verdict;

TEST(SuspectsTest, GuiltyIsWhoWasThereBeforeAndThenAlone) {
  Suspects suspects;
  EXPECT_FALSE(suspects.any());
  suspects.Accuse({1, 2});
  EXPECT_TRUE(suspects.any());
  EXPECT_EQ(suspects.Judge(1), Verdict::kSuspect);
  EXPECT_EQ(suspects.Judge(3), Verdict::kUnknown);
  suspects.Accuse({1, 2});
  EXPECT_EQ(suspects.Judge(2), Verdict::kSuspect) << "not alone";
  suspects.Accuse({2});
  EXPECT_EQ(suspects.Judge(2), Verdict::kGuilty);
  EXPECT_EQ(suspects.Judge(1), Verdict::kSuspect);
}

TEST(SuspectsTest, WhoWasExecutedIsAcquitted) {
  Suspects suspects;
  suspects.Accuse({1, 2});
  suspects.Acquit(1);
  EXPECT_EQ(suspects.Judge(1), Verdict::kUnknown);
  EXPECT_TRUE(suspects.any());
  suspects.Acquit(2);
  EXPECT_FALSE(suspects.any());
}

TEST(SuspectsTest, TheOldestAreForgotten) {
  Suspects suspects;
  for (uint64_t i = 1; i <= 1000; ++i) suspects.Accuse({i});
  EXPECT_EQ(suspects.Judge(1), Verdict::kUnknown);
  EXPECT_EQ(suspects.Judge(1000), Verdict::kSuspect);
}

}  // namespace
}  // namespace nereid_backend
