// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::HasSubstr;

Json Parsed(std::string_view text) {
  Result<Json> json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

TEST(JsonTest, WritesWhatItRead) {
  for (const char* text :
       {"null", "true", "[]", "{}", R"({"a":[1,-2,{"b":"x\"y"}],"c":1.5,"d":false,"e":null})",
        R"(["\u0001",9223372036854775807,-9223372036854775808])"}) {
    EXPECT_EQ(Parsed(text).Write(), text);
  }
}

TEST(JsonTest, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::Parse(nested(256)).ok());
  for (const size_t depth : {257, 1'000'000}) {
    auto json = Json::Parse(nested(depth));
    ASSERT_FALSE(json.ok());
    EXPECT_STREQ(
        json.error().message(),
        "failed to parse JSON at offset 256: more than 256 arrays and objects in one another");
  }
}

TEST(JsonTest, Numbers) {
  EXPECT_EQ(Parsed("[-0,1,2.0,0.1,1e3,9223372036854775808]").Write(),
            "[0,1,2.0,0.1,1000.0,9223372036854776000.0]");
  EXPECT_EQ(Parsed("0e90").Write(), "0.0") << "found by fuzzing: undefined behaviour in rapidjson";
  for (const char* text : {"[10e308]", "[1e-999]"}) {
    auto json = Json::Parse(text);
    ASSERT_FALSE(json.ok()) << text;
    EXPECT_THAT(json.error().message(), HasSubstr("a number that a double cannot hold")) << text;
  }
}

TEST(JsonTest, DoublesThatJsonLacksAreAsInPython) {
  const Json json = Parsed("[NaN,Infinity,-Infinity,1.5]");
  EXPECT_EQ(json.Write(), "[NaN,Infinity,-Infinity,1.5]");
  EXPECT_TRUE(std::isnan(json.items()[0].AsDouble()));
  EXPECT_EQ(json.items()[2].AsDouble(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Parsed("1").AsDouble(7), 7) << "an integer is none";
  for (const char* text : {"nan", "[Nan]", "[Infi]", "[-NaN1]"}) {
    EXPECT_FALSE(Json::Parse(text).ok()) << text;
  }
}

TEST(JsonTest, ReadsMembersByName) {
  const Json json =
      Parsed(R"({"name":"m","size":4,"big":"12345678901","flag":true,"dims":[1,"-1"]})");
  EXPECT_EQ(json["name"].AsString(), "m");
  EXPECT_EQ(json["size"].AsInt(), 4);
  EXPECT_EQ(json["big"].AsInt(), 12345678901) << "protobuf prints 64-bit integers as strings";
  EXPECT_TRUE(json["flag"].AsBool());
  EXPECT_EQ(json["dims"].AsInts(), (std::vector<int64_t>{1, -1}));
}

TEST(JsonTest, MissingAndWrongKindsGiveTheFallback) {
  const Json json = Parsed(R"({"text":"12x","list":[1]})");
  EXPECT_TRUE(json["none"]["deeper"].is_null());
  EXPECT_EQ(json["none"].AsInt(7), 7);
  EXPECT_EQ(json["text"].AsInt(7), 7);
  EXPECT_EQ(json["list"].AsString("x"), "x");
  EXPECT_TRUE(json["text"].items().empty());
  EXPECT_FALSE(json.Has("none"));
}

TEST(JsonTest, SetAddsAndReplaces) {
  Json json;
  json.Set("a", int64_t{1});
  json.Set("b", JsonInts({2, 3}));
  json.Set("a", "x");
  EXPECT_EQ(json.Write(), R"({"a":"x","b":[2,3]})");
}

TEST(JsonTest, RejectsWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{} {}", "nul", "\"\xff"}) {
    Result<Json> json = Json::Parse(text);
    ASSERT_FALSE(json.ok()) << text;
    EXPECT_EQ(json.error().code(), TRITONSERVER_ERROR_INVALID_ARG);
  }
}

}  // namespace
}  // namespace nereid_backend
