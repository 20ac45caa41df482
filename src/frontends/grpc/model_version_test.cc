// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/model_version.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<int64_t> version = ParseModelVersion(text);
  if (version.ok()) return "OK";
  EXPECT_EQ(version.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(version.status().message());
}

TEST(ModelVersion, Numbers) {
  EXPECT_EQ(ParseModelVersion("").value(), -1);
  EXPECT_EQ(ParseModelVersion("1").value(), 1);
  EXPECT_EQ(ParseModelVersion("007").value(), 7);
  EXPECT_EQ(ParseModelVersion("9223372036854775807").value(), 9223372036854775807);
}

TEST(ModelVersion, WhatFollowsTheNumberIsIgnored) {
  EXPECT_EQ(ParseModelVersion(" 2").value(), 2);
  EXPECT_EQ(ParseModelVersion("2.9").value(), 2);
}

TEST(ModelVersion, NoNumber) {
  EXPECT_EQ(ErrorOf("one"),
            "failed to get model version from specified version string 'one' (details: stol), "
            "version should be an integral value > 0");
  EXPECT_EQ(ErrorOf("9223372036854775808"),
            "failed to get model version from specified version string '9223372036854775808' "
            "(details: stol), version should be an integral value > 0");
}

TEST(ModelVersion, TooLong) {
  EXPECT_EQ(ParseModelVersion(std::string(1023, '0') + "1").value(), 1);
  EXPECT_EQ(ErrorOf(std::string(1025, '1')),
            "the version of the model has 1025 bytes, at most 1024 are allowed");
}

TEST(ModelVersion, Negative) {
  EXPECT_EQ(ErrorOf("-1"),
            "invalid model version specified '-1' , version should be an integral value > 0");
}

}  // namespace
}  // namespace nereid
