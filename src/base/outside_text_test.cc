// SPDX-License-Identifier: Apache-2.0
#include "base/outside_text.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(OutsideTextTest, Utf8) {
  for (const std::string text : {"", "a", "\x7f", "\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                                 "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsValidUtf8(text)) << text;
  }
  for (const std::string text : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                                 "\xF4\x90\x80\x80", "\xFF", "a\xC3(", "\xE2\x82"}) {
    EXPECT_FALSE(IsValidUtf8(text)) << text;
  }
}

TEST(OutsideTextTest, BytesThatAreNoUtf8AreReplaced) {
  std::string memory = "before";
  const absl::string_view plain = "gr\xC3\xBC\xC3\x9F";
  EXPECT_EQ(ToUtf8(plain, &memory).data(), plain.data()) << "not copied";
  EXPECT_EQ(ToUtf8("a\xFF\xC3(", &memory), "a\xEF\xBF\xBD\xEF\xBF\xBD(");
  EXPECT_EQ(ToUtf8("\xE2\x82", &memory), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(OutsideTextTest, EscapedTextIsPrintable) {
  EXPECT_EQ(EscapedText("gr\xC3\xBC\xC3\x9F 1'\\"), "gr\xC3\xBC\xC3\x9F 1'\\");
  EXPECT_EQ(EscapedText(absl::string_view("a\0b\x1b[31m\n\x7f\xff", 11)),
            "a\\x00b\\x1b[31m\\x0a\\x7f\\xff");
  const std::string shown = EscapedText(std::string(300, 'a'));
  EXPECT_EQ(shown, std::string(100, 'a') + "...");
}

TEST(OutsideTextTest, NamesThatCannotBe) {
  for (int c = 0; c < 256; ++c) {
    const std::string name = {'a', static_cast<char>(c), 'b'};
    const bool control = c < 0x20 || c == 0x7F;
    EXPECT_EQ(WhyNoName(name).empty(), !control && c < 0x80) << c;
    const absl::Status status = CheckOutsideName("model name", name);
    if (!control) continue;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              absl::StrCat("invalid model name 'a\\x", absl::Hex(c, absl::kZeroPad2),
                           "b', model name must not contain control characters"));
  }
  EXPECT_EQ(WhyNoName("\xff"), "must be UTF-8");
  EXPECT_EQ(WhyNoName(std::string(255, 'a')), "");
  EXPECT_EQ(WhyNoName(std::string(256, 'a')), "must not have more than 255 bytes");
  EXPECT_EQ(WhyNoName(std::string(256, 'a'), 256), "");
}

}  // namespace
}  // namespace nereid
