// SPDX-License-Identifier: Apache-2.0
#include "backends/python/suspects.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

using Verdict = Suspects::Verdict;

class SuspectsTest : public ::testing::Test {
 protected:
  uint64_t now_ = 1;
  Suspects suspects_{[this] { return now_; }};
};

TEST_F(SuspectsTest, GuiltyIsWhoWasThereBeforeAndThenAlone) {
  EXPECT_FALSE(suspects_.any());
  EXPECT_FALSE(suspects_.Accuse({1, 2}));
  EXPECT_TRUE(suspects_.any());
  EXPECT_EQ(suspects_.Judge(1), Verdict::kSuspect);
  EXPECT_EQ(suspects_.Judge(3), Verdict::kUnknown);
  EXPECT_FALSE(suspects_.Accuse({1, 2}));
  EXPECT_EQ(suspects_.Judge(2), Verdict::kSuspect) << "not alone";
  EXPECT_TRUE(suspects_.Accuse({2}));
  EXPECT_EQ(suspects_.Judge(2), Verdict::kGuilty);
  EXPECT_EQ(suspects_.Judge(1), Verdict::kSuspect);
}

TEST_F(SuspectsTest, WhoWasExecutedIsAcquitted) {
  suspects_.Accuse({1, 2});
  suspects_.Acquit(1);
  EXPECT_EQ(suspects_.Judge(1), Verdict::kUnknown);
  EXPECT_TRUE(suspects_.any());
  suspects_.Acquit(2);
  EXPECT_FALSE(suspects_.any());
}

TEST_F(SuspectsTest, TheOldestAreForgotten) {
  for (uint64_t i = 1; i <= 1000; ++i) suspects_.Accuse({i});
  EXPECT_EQ(suspects_.Judge(1), Verdict::kUnknown);
  EXPECT_EQ(suspects_.Judge(1000), Verdict::kSuspect);
}

TEST_F(SuspectsTest, ASuspectIsForgottenAfterAWhile) {
  suspects_.Accuse({1});
  now_ += Suspects::kMemoryNs / 2;
  suspects_.Accuse({2});
  now_ += Suspects::kMemoryNs / 2;
  EXPECT_EQ(suspects_.Judge(1), Verdict::kUnknown);
  EXPECT_EQ(suspects_.Judge(2), Verdict::kSuspect);
  now_ += Suspects::kMemoryNs / 2;
  EXPECT_EQ(suspects_.Judge(3), Verdict::kUnknown);
  EXPECT_FALSE(suspects_.any());
}

TEST_F(SuspectsTest, TheGuiltyGetAnotherChance) {
  suspects_.Accuse({1});
  suspects_.Accuse({1});
  now_ += Suspects::kQuarantineNs - 1;
  EXPECT_EQ(suspects_.Judge(1), Verdict::kGuilty);
  now_ += 1;
  EXPECT_EQ(suspects_.Judge(1), Verdict::kSuspect);
  EXPECT_TRUE(suspects_.Accuse({1})) << "once is enough then";
  EXPECT_EQ(suspects_.Judge(1), Verdict::kGuilty);
  now_ += Suspects::kQuarantineNs;
  EXPECT_EQ(suspects_.Judge(1), Verdict::kSuspect);
  suspects_.Acquit(1);
  EXPECT_FALSE(suspects_.any());
}

}  // namespace
}  // namespace nereid_backend
