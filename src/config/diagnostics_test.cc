// SPDX-License-Identifier: Apache-2.0
#include "config/diagnostics.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(DiagnosticsTest, NoProblemIsOk) { EXPECT_EQ(Diagnostics().ToStatus("m"), absl::OkStatus()); }

TEST(DiagnosticsTest, OneProblemStartsWithItsExactText) {
  Diagnostics diagnostics;
  diagnostics.Add("max_batch_size", "'max_batch_size' must be non-negative value for m", "got -1");
  EXPECT_EQ(diagnostics.ToStatus("m"),
            absl::InvalidArgumentError("'max_batch_size' must be non-negative value for m "
                                       "(max_batch_size: got -1)"));
}

TEST(DiagnosticsTest, SeveralProblemsAreNumbered) {
  Diagnostics diagnostics;
  diagnostics.Add("a", "first", "x");
  diagnostics.Add("b", "second", "y", absl::StatusCode::kUnimplemented);
  EXPECT_EQ(diagnostics.ToStatus("m"),
            absl::InvalidArgumentError("the configuration of model 'm' has 2 problems:\n"
                                       "  1. first (a: x)\n"
                                       "  2. second (b: y)"));
}

TEST(DiagnosticsTest, CodeIsKeptWhereAllAgree) {
  Diagnostics diagnostics;
  diagnostics.Add("a", "first", "x", absl::StatusCode::kUnimplemented);
  EXPECT_EQ(diagnostics.ToStatus("m"), absl::UnimplementedError("first (a: x)"));
  diagnostics.Add("b", "second", "y", absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::IsUnimplemented(diagnostics.ToStatus("m")));
}

}  // namespace
}  // namespace nereid
