#include "frontends/codec/length_headers.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(LengthHeadersTest, ReadsNumbers) {
  EXPECT_EQ(*ParseContentLength("0"), 0);
  EXPECT_EQ(*ParseContentLength("2147483647"), 2147483647);
  EXPECT_EQ(*ParseInferenceHeaderLength("0", 0), 0u);
  EXPECT_EQ(*ParseInferenceHeaderLength("17", 17), 17u);
}

TEST(LengthHeadersTest, RefusesWhatIsNoNumber) {
  for (const std::string text : {"", "x", "12x", " 1", "+1", "1.0", "0x10", "--1"}) {
    EXPECT_EQ(ParseContentLength(text).status(),
              absl::InvalidArgumentError("Unable to parse Content-Length, got: " + text));
    EXPECT_EQ(ParseInferenceHeaderLength(text, 9).status(),
              absl::InvalidArgumentError("Unable to parse Inference-Header-Content-Length, got: " +
                                         text));
  }
}

TEST(LengthHeadersTest, RefusesWhatIsNoInt32) {
  for (const std::string text : {"2147483648", "-2147483649", "99999999999999999999"}) {
    EXPECT_EQ(ParseContentLength(text).status(),
              absl::InvalidArgumentError("Unable to parse Content-Length, value is out of range "
                                         "[ -2147483648, 2147483647 ], got: " +
                                         text));
    EXPECT_EQ(
        ParseInferenceHeaderLength(text, 9).status(),
        absl::InvalidArgumentError("Unable to parse Inference-Header-Content-Length, value is out "
                                   "of range [ -2147483648, 2147483647 ], got: " +
                                   text));
  }
}

TEST(LengthHeadersTest, JsonPartIsWithinTheBody) {
  for (const std::string text : {"-1", "10"}) {
    EXPECT_EQ(ParseInferenceHeaderLength(text, 9).status(),
              absl::InvalidArgumentError("inference header size should be in range (0, 9), got: " +
                                         text));
  }
}

}  // namespace
}  // namespace nereid
