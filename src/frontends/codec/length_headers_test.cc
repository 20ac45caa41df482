// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/length_headers.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(LengthHeadersTest, ReadsNumbers) {
  EXPECT_EQ(*ParseInferenceHeaderLength("0", 0), 0u);
  EXPECT_EQ(*ParseInferenceHeaderLength("17", 17), 17u);
  EXPECT_EQ(*ParseInferenceHeaderLength("5000000000", size_t{6'000'000'000}), 5'000'000'000u);
}

TEST(LengthHeadersTest, RefusesWhatIsNoNumber) {
  for (const std::string text : {"", "x", "12x", " 1", "+1", "1.0", "0x10", "--1"}) {
    EXPECT_EQ(ParseInferenceHeaderLength(text, 9).status(),
              absl::InvalidArgumentError("Unable to parse Inference-Header-Content-Length, got: " +
                                         text));
  }
}

TEST(LengthHeadersTest, RefusesWhatIsNoInt64) {
  for (const std::string text :
       {"9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
    EXPECT_EQ(
        ParseInferenceHeaderLength(text, 9).status(),
        absl::InvalidArgumentError("Unable to parse Inference-Header-Content-Length, value is out "
                                   "of range [ -9223372036854775808, 9223372036854775807 ], got: " +
                                   text));
  }
}

TEST(LengthHeadersTest, JsonPartIsWithinTheBody) {
  for (const std::string text : {"-1", "10", "2147483648"}) {
    EXPECT_EQ(ParseInferenceHeaderLength(text, 9).status(),
              absl::InvalidArgumentError("inference header size should be in range (0, 9), got: " +
                                         text));
  }
}

}  // namespace
}  // namespace nereid
