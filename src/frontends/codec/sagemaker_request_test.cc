// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/sagemaker_request.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

absl::StatusOr<SagemakerLoad> ReadLoadOf(absl::string_view body) {
  return ReadSagemakerLoad(body, ParseBudget::UpTo(2 << 20));
}

TEST(SagemakerRequestTest, NameAndUrl) {
  const auto load = ReadLoadOf(R"({"url":"/opt/m","model_name":"a","more":[]})");
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_EQ(load->name, "a");
  EXPECT_EQ(load->url, "/opt/m");
}

TEST(SagemakerRequestTest, AnythingElseIsRefused) {
  for (const std::string body :
       {"", "[]", "{", R"({"url":"x"})", R"({"model_name":"x"})", R"({"model_name":1,"url":"x"})",
        R"({"model_name":"","url":"x"})", R"({"model_name":"x","url":""})"}) {
    EXPECT_EQ(ReadLoadOf(body).status().code(), absl::StatusCode::kInvalidArgument) << body;
  }
  EXPECT_FALSE(
      ReadLoadOf(absl::StrCat(R"({"url":"x","model_name":")", std::string(1025, 'n'), "\"}")).ok());
}

}  // namespace
}  // namespace nereid
