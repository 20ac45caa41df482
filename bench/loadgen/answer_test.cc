// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/answer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace nereid::bench {
namespace {

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

absl::Status Check(const std::vector<float>& answer) {
  return Reference::Parse(Bytes({1.0f, -2.5f}))->Check(Bytes(answer), AnswerForm::kBinary);
}

absl::Status CheckJson(absl::string_view answer) {
  return Reference::Parse(Bytes({1.0f, -2.5f}))->Check(answer, AnswerForm::kJson);
}

TEST(ReferenceTest, TakesWhatIsEqualOrAlmost) {
  EXPECT_TRUE(Check({1.0f, -2.5f}).ok());
  EXPECT_TRUE(Check({1.000001f, -2.500001f}).ok());
}

TEST(ReferenceTest, RefusesWhatDiffers) {
  EXPECT_FALSE(Check({1.0f, -2.4f}).ok());
  EXPECT_FALSE(Check({1.0f}).ok());
  EXPECT_FALSE(Check({1.0f, -2.5f, 0.0f}).ok());
  EXPECT_FALSE(Check({}).ok());
  EXPECT_FALSE(Check({std::numeric_limits<float>::quiet_NaN(), -2.5f}).ok());
}

TEST(ReferenceTest, ReadsJson) {
  EXPECT_TRUE(CheckJson(R"({"outputs":[{"shape":[2],"data":[1.0,-2.5]}]})").ok());
  EXPECT_TRUE(CheckJson(R"({"outputs":[{"data":[1, -2.5]}]})").ok());
  EXPECT_FALSE(CheckJson(R"({"outputs":[{"data":[1.0,2.5]}]})").ok());
  EXPECT_FALSE(CheckJson(R"({"outputs":[{"data":[1.0,"x"]}]})").ok());
  EXPECT_FALSE(CheckJson(R"({"error":"no"})").ok());
}

TEST(ReferenceTest, RefusesBrokenReferences) { EXPECT_FALSE(Reference::Parse("12345").ok()); }

}  // namespace
}  // namespace nereid::bench
