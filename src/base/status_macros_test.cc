// SPDX-License-Identifier: Apache-2.0
#include "base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>

namespace nereid {
namespace {

absl::Status ReturnsEarly(const absl::Status& status, bool* reached) {
  RETURN_IF_ERROR(status);
  *reached = true;
  return absl::OkStatus();
}

absl::StatusOr<int> AddsOne(absl::StatusOr<std::unique_ptr<int>> number) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> value, std::move(number));
  return *value + 1;
}

TEST(StatusMacrosTest, ReturnIfErrorReturnsErrorsOnly) {
  bool reached = false;
  EXPECT_EQ(ReturnsEarly(absl::InternalError("no"), &reached), absl::InternalError("no"));
  EXPECT_FALSE(reached);
  EXPECT_TRUE(ReturnsEarly(absl::OkStatus(), &reached).ok());
  EXPECT_TRUE(reached);
}

TEST(StatusMacrosTest, AssignOrReturnMovesTheValueOut) {
  EXPECT_EQ(*AddsOne(std::make_unique<int>(41)), 42);
  EXPECT_EQ(AddsOne(absl::NotFoundError("none")).status(), absl::NotFoundError("none"));
}

}  // namespace
}  // namespace nereid
