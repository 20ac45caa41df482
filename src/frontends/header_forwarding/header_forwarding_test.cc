// SPDX-License-Identifier: Apache-2.0
#include "frontends/header_forwarding/header_forwarding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Parameters = std::vector<std::pair<std::string, std::string>>;

// What a model gets of `headers`, or the error.
absl::StatusOr<Parameters> Forwarded(const std::string& pattern, const Parameters& headers) {
  const auto forwarding = HeaderForwarding::Create(pattern);
  if (!forwarding.ok()) return forwarding.status();
  InferRequest request(nullptr, -1);
  for (const auto& [name, value] : headers) {
    if (absl::Status status = forwarding->Forward(name, value, &request); !status.ok()) {
      return status;
    }
  }
  Parameters found;
  for (const Parameter& parameter : request.parameters()) {
    found.emplace_back(parameter.name, std::get<std::string>(parameter.value));
  }
  return found;
}

TEST(HeaderForwardingTest, NothingIsForwardedWithoutAPattern) {
  EXPECT_FALSE(HeaderForwarding().active());
  EXPECT_THAT(*Forwarded("", {{"x-one", "1"}, {"timeout", "2"}}), IsEmpty());
}

TEST(HeaderForwardingTest, ThePatternMatchesAnyPartOfANameInAnyCase) {
  EXPECT_THAT(*Forwarded("my_H", {{"a-MY_header", "1"}, {"my-header", "2"}, {"my_h", ""}}),
              ElementsAre(Pair("a-MY_header", "1"), Pair("my_h", "")));
  EXPECT_THAT(*Forwarded("^x-", {{"x-1", "1"}, {"a-x-1", "2"}}), ElementsAre(Pair("x-1", "1")));
  EXPECT_THAT(*Forwarded(".*", {{"a", "1"}, {"a", "2"}}),
              ElementsAre(Pair("a", "1"), Pair("a", "2")));
}

TEST(HeaderForwardingTest, AReservedNameIsRefusedOnlyIfItMatches) {
  for (const char* name : {"sequence_id", "sequence_start", "sequence_end", "priority", "timeout",
                           "headers", "binary_data_output", "triton_x"}) {
    const absl::Status status = Forwarded(".*", {{name, "1"}}).status();
    EXPECT_EQ(status.message(), std::string("Header '") + name +
                                    "' is reserved for Triton usage and cannot be forwarded.");
    EXPECT_THAT(*Forwarded("^x-", {{name, "1"}}), IsEmpty());
  }
}

TEST(HeaderForwardingTest, ABadPatternIsRefused) {
  const absl::Status status = HeaderForwarding::Create("(").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'(' is no regular expression: "));
}

}  // namespace
}  // namespace nereid
