// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

std::string Quoted(absl::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

std::string Number(float value) {
  std::string out;
  AppendJsonFloat(value, &out);
  return out;
}

std::string Number(double value) {
  std::string out;
  AppendJsonDouble(value, &out);
  return out;
}

// ---- Structure

TEST(JsonWriterTest, PutsCommasWhereTheyBelong) {
  std::string out;
  JsonWriter w(&out);
  w.BeginObject();
  w.Key("a");
  w.Int(-1);
  w.Key("b");
  w.BeginArray();
  w.BeginObject();
  w.EndObject();
  w.BeginArray();
  w.EndArray();
  w.Uint(2);
  w.EndArray();
  w.Key("c");
  w.String("x");
  w.EndObject();
  EXPECT_EQ(out, R"({"a":-1,"b":[{},[],2],"c":"x"})");
}

TEST(JsonWriterTest, WritesEveryKindOfValue) {
  std::string out;
  JsonWriter w(&out);
  w.BeginArray();
  w.Bool(true);
  w.Bool(false);
  w.Null();
  w.Int(std::numeric_limits<int64_t>::min());
  w.Uint(std::numeric_limits<uint64_t>::max());
  w.Float(1.5f);
  w.Double(-2);
  w.Raw(R"({"k":1})");
  w.String("s");
  w.EndArray();
  EXPECT_EQ(out,
            R"([true,false,null,-9223372036854775808,18446744073709551615,1.5,-2.0,{"k":1},"s"])");
}

TEST(JsonWriterTest, AppendsToWhatIsThere) {
  std::string out = "before:";
  JsonWriter w(&out);
  w.BeginArray();
  w.EndArray();
  EXPECT_EQ(out, "before:[]");
}

// ---- Strings

TEST(JsonStringTest, PlainTextStaysAsItIs) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("plain text, with: {signs} [and] /slashes/"),
            "\"plain text, with: {signs} [and] /slashes/\"");
  EXPECT_EQ(Quoted("\x7f"), "\"\x7f\"");
}

TEST(JsonStringTest, SpecialCharactersAreEscaped) {
  EXPECT_EQ(Quoted("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(Quoted(std::string("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(Quoted("\x01\x1f"), R"("\u0001\u001f")");
}

TEST(JsonStringTest, ValidUtf8StaysAsItIs) {
  const std::vector<std::string> valid = {
      "\xC2\x80",
      "\xDF\xBF",  // two bytes, first and last
      "\xE0\xA0\x80",
      "\xEF\xBF\xBF",  // three
      "\xED\x9F\xBF",
      "\xEE\x80\x80",  // around the surrogates
      "\xF0\x90\x80\x80",
      "\xF4\x8F\xBF\xBF",  // four
      "h\xC3\xA9llo \xE2\x82\xAC \xF0\x9F\x98\x80",
  };
  for (const std::string& text : valid) EXPECT_EQ(Quoted(text), "\"" + text + "\"");
}

TEST(JsonStringTest, InvalidBytesAreReplacedOneByOne) {
  const std::vector<std::pair<std::string, int>> invalid = {
      {"\x80", 1},              // continuation without a lead
      {"\xC0\x80", 2},          // overlong
      {"\xC1\xBF", 2},          // overlong
      {"\xE0\x80\x80", 3},      // overlong
      {"\xF0\x80\x80\x80", 4},  // overlong
      {"\xED\xA0\x80", 3},      // surrogate
      {"\xF4\x90\x80\x80", 4},  // past U+10FFFF
      {"\xF5\x80\x80\x80", 4},  // no such lead
      {"\xFF", 1},
      {"\xC3", 1},          // cut off
      {"\xE2\x82", 2},      // cut off
      {"\xF0\x9F\x98", 3},  // cut off
  };
  for (const auto& [text, count] : invalid) {
    std::string expected = "\"a";
    for (int i = 0; i < count; ++i) expected += kReplacement;
    expected += "b\"";
    EXPECT_EQ(Quoted("a" + text + "b"), expected);
  }
}

// Texts are looked at several bytes at a time: every byte at every place of a longer text.
TEST(JsonStringTest, EveryByteIsSeenAtEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string special(1, static_cast<char>(byte));
    const std::string quoted = Quoted(special);
    const std::string written = quoted.substr(1, quoted.size() - 2);
    for (size_t before = 0; before < 18; ++before) {
      for (size_t after = 0; after < 10; ++after) {
        const std::string front(before, 'a'), back(after, '!');
        ASSERT_EQ(Quoted(front + special + back), '"' + front + written + back + '"')
            << byte << " after " << before << " bytes, before " << after;
        ASSERT_EQ(Quoted(front + special + special + back),
                  '"' + front + written + written + back + '"');
      }
    }
  }
}

TEST(JsonStringTest, TextAroundReplacedBytesIsKept) {
  EXPECT_EQ(Quoted("ab\xFF"
                   "cd\n\xC3\xA9\xFE"),
            std::string("\"ab") + kReplacement + "cd\\n\xC3\xA9" + kReplacement + "\"");
}

// ---- Numbers

TEST(JsonNumberTest, IntegralValuesShowThatTheyAreFloatingPoint) {
  EXPECT_EQ(Number(0.0), "0.0");
  EXPECT_EQ(Number(-0.0), "-0.0");
  EXPECT_EQ(Number(1.0f), "1.0");
  EXPECT_EQ(Number(-17.0), "-17.0");
}

TEST(JsonNumberTest, FloatsAreAsShortAsCanBe) {
  EXPECT_EQ(Number(0.1f), "0.1");
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(Number(1e30), "1e+30");
}

TEST(JsonNumberTest, WhatIsNoNumberIsSpelledOut) {
  EXPECT_EQ(Number(std::nan("")), "NaN");
  EXPECT_EQ(Number(std::numeric_limits<float>::infinity()), "Infinity");
  EXPECT_EQ(Number(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(JsonNumberTest, EveryFloatReadsBackToItself) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t bits = random();
    float single;
    double wide;
    const uint32_t low = static_cast<uint32_t>(bits);
    std::memcpy(&single, &low, sizeof(single));
    std::memcpy(&wide, &bits, sizeof(wide));
    if (std::isfinite(single)) {
      EXPECT_EQ(std::strtof(Number(single).c_str(), nullptr), single);
    }
    if (std::isfinite(wide)) {
      EXPECT_EQ(std::strtod(Number(wide).c_str(), nullptr), wide);
    }
  }
}

}  // namespace
}  // namespace nereid
