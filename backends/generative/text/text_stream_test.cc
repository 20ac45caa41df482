// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/text/text_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;

constexpr char kReplaced[] = "\xEF\xBF\xBD";

// Tokens are bytes.
std::string BytesOf(std::span<const Token> tokens) {
  std::string text;
  for (const Token token : tokens) text += static_cast<char>(token);
  return text;
}
// The same with U+FFFD for what is cut off.
std::string ValidBytesOf(std::span<const Token> tokens) { return ValidUtf8(BytesOf(tokens)); }

std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (const char byte : text) tokens.push_back(static_cast<uint8_t>(byte));
  return tokens;
}

struct Parts {
  std::vector<std::string> parts;  // after each token, and at the end
  bool stopped = false;

  std::string all() const {
    std::string text;
    for (const std::string& part : parts) text += part;
    return text;
  }
};

Parts Stream(std::string_view text, std::vector<std::string> stops = {}, bool include_stop = false,
             const TextStream::Decode& decode = BytesOf, std::string_view prompt = "") {
  TextStream stream(decode, TokensOf(prompt), std::move(stops), include_stop);
  Parts parts;
  for (const Token token : TokensOf(text)) {
    stream.Add(token);
    parts.parts.push_back(stream.Take());
  }
  stream.Finish();
  parts.parts.push_back(stream.Take());
  parts.stopped = stream.stopped();
  return parts;
}

TEST(TextStreamTest, GivesWholeCharacters) {
  EXPECT_THAT(Stream("aé🦜").parts, ElementsAre("a", "", "é", "", "", "", "🦜", ""));
  EXPECT_THAT(Stream("aé🦜", {}, false, ValidBytesOf).parts,
              ElementsAre("a", "", "é", "", "", "", "🦜", ""));
}

TEST(TextStreamTest, WhatIsNoCharacterIsReplaced) {
  for (const TextStream::Decode decode : {BytesOf, ValidBytesOf}) {
    EXPECT_EQ(Stream("a\xF0\x9F", {}, false, decode).all(), std::string("a") + kReplaced);
    EXPECT_EQ(Stream("a\xC3z", {}, false, decode).all(), std::string("a") + kReplaced + "z");
    EXPECT_EQ(Stream("\xFF\xFF\xFF\xFF\xFFz", {}, false, decode).all(),
              ValidUtf8("\xFF\xFF\xFF\xFF\xFFz"));
  }
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), std::string(kReplaced) + kReplaced + kReplaced);
}

TEST(TextStreamTest, StopStringsAreFoundAcrossTokensAndNotGiven) {
  const Parts parts = Stream("one END two", {"END"});
  EXPECT_EQ(parts.all(), "one ");
  EXPECT_TRUE(parts.stopped);
  EXPECT_EQ(Stream("one END two", {"END"}, true).all(), "one END");
  EXPECT_EQ(Stream("one END two", {"two", "N", "END"}).all(), "one E") << "the first that comes";
}

TEST(TextStreamTest, AStopStringThatComesTooEarlyIsText) {
  TextStream stream(BytesOf, {}, {"ab"}, false);
  stream.Add('a', false);
  stream.Add('b', false);
  EXPECT_EQ(stream.Take(), "ab");
  EXPECT_FALSE(stream.stopped());
  stream.Add('a');
  stream.Add('b');
  EXPECT_EQ(stream.Take(), "");
  EXPECT_TRUE(stream.stopped());
}

TEST(TextStreamTest, WhatMayBeAStopStringWaits) {
  const Parts parts = Stream("aENxEN", {"END"});
  EXPECT_THAT(parts.parts, ElementsAre("a", "", "", "ENx", "", "", "EN"));
  EXPECT_FALSE(parts.stopped);
  EXPECT_THAT(Stream("aab", {"ab"}).parts, ElementsAre("", "a", "", ""));
}

// A tokenizer that leaves out the space before the first word.
TEST(TextStreamTest, TheEndOfThePromptDecidesHowTheTextBegins) {
  const TextStream::Decode decode = [](std::span<const Token> tokens) {
    std::string text = BytesOf(tokens);
    return text.starts_with(' ') ? text.substr(1) : text;
  };
  EXPECT_EQ(Stream(" Paris", {}, false, decode, "The capital is").all(), " Paris");
  EXPECT_EQ(Stream("\x9C", {}, false, BytesOf, "The end \xC3").all(), kReplaced);
}

TEST(TextStreamTest, PartsOfLongTextsAreTheText) {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"a", "b", "é", "🦜", " ", "\xFF", "ab"};
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int j = 0; j < 100; ++j) text += pieces[random() % pieces.size()];
    EXPECT_EQ(Stream(text).all(), ValidUtf8(text));
    EXPECT_EQ(Stream(text, {}, false, ValidBytesOf).all(), ValidUtf8(text));
    const size_t stop = ValidUtf8(text).find("aba");
    const Parts parts = Stream(text, {"aba", "never"});
    EXPECT_EQ(parts.stopped, stop != std::string::npos);
    EXPECT_EQ(parts.all(), ValidUtf8(text).substr(0, stop));
  }
}

}  // namespace
}  // namespace nereid_backend
