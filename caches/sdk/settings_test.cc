// SPDX-License-Identifier: Apache-2.0
#include "caches/sdk/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid_cache {
namespace {

using testing::HasSubstr;

const std::vector<std::string_view> kKnown = {"size", "name"};

TEST(SettingsTest, NumbersAndTextsInEitherForm) {
  auto settings = Settings::Parse("c", R"({"size": 18446744073709551615, "name": 12})", kKnown);
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->Text("name"), "12");
  EXPECT_EQ(settings->Number("name"), 12u);
  settings = Settings::Parse("c", R"({"size": "18446744073709551615", "name": "a b"})", kKnown);
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->Number("size"), 18446744073709551615u);
  EXPECT_EQ(settings->Text("name"), "a b");
  EXPECT_FALSE(settings->Number("name").has_value());
  settings = Settings::Parse("c", R"({"name": ""})", kKnown);
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->Text("name"), "");
  EXPECT_EQ(settings->Text("size"), "");
  EXPECT_FALSE(settings->Number("size").has_value());
}

TEST(SettingsTest, WhatIsNoNumber) {
  for (const char* json : {R"({"size": -1})", R"({"size": "-1"})", R"({"size": "1k"})",
                           R"({"size": 1.5})", R"({"size": true})", R"({"size": ""})",
                           R"({"size": [1]})", R"({"size": "18446744073709551616"})"}) {
    auto settings = Settings::Parse("c", json, kKnown);
    ASSERT_TRUE(settings.ok()) << json;
    EXPECT_FALSE(settings->Number("size").has_value()) << json;
  }
}

TEST(SettingsTest, BadConfigurationsSayWhatIsWrong) {
  for (const char* json : {"", "5", "[1]", "{"}) {
    EXPECT_FALSE(Settings::Parse("c", json, kKnown).ok()) << json;
  }
  EXPECT_FALSE(Settings::Parse("c", nullptr, kKnown).ok());
  auto unknown = Settings::Parse("c", R"({"sise": 1})", kKnown);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message(),
              HasSubstr("cache 'c' has no setting 'sise'; it has: size, name"));
}

}  // namespace
}  // namespace nereid_cache
