// SPDX-License-Identifier: Apache-2.0
#include "backend_check/findings.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backend_check/report.h"

namespace nereid {
namespace {

TEST(Findings, HaveDifferentIdsAndAllWords) {
  std::set<std::string> ids;
  for (const FindingKind& kind : FindingKinds()) {
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    for (const char* text : {kind.what, kind.why, kind.right}) {
      EXPECT_NE(std::string(text), "") << kind.id;
    }
    EXPECT_EQ(FindFindingKind(kind.id), &kind);
  }
  EXPECT_EQ(FindFindingKind("unheard-of"), nullptr);
}

TEST(TrialResult, CountsFindingsOfOneKind) {
  TrialResult all;
  all.AddFinding("hang", "first");
  TrialResult more;
  more.AddFinding("hang", "second");
  more.AddFinding("crash", "third");
  more.AddNote("said once");
  all.AddNote("said once");
  all.Add(more);
  ASSERT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.findings[0].detail, "first");
  EXPECT_EQ(all.findings[0].count, 2);
  EXPECT_EQ(all.notes.size(), 1u);
}

TEST(BackendReport, TellsWhatWhereWhyAndWhatIsRight) {
  TrialResult result;
  result.AddFinding("hang", "Execute");
  result.AddFinding("hang", "Execute");
  const std::string text = BackendReportText("x.so", result);
  EXPECT_EQ(text.find("x.so\n\nFINDING hang: a function did not return\n  where:  Execute (and 1"),
            0u)
      << text;
  const std::string json = BackendReportJson("x.so", result);
  EXPECT_NE(json.find("\"id\":\"hang\",\"count\":2,\"where\":\"Execute\""), std::string::npos)
      << json;
}

}  // namespace
}  // namespace nereid
