// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/router.h"

#include <gtest/gtest.h>

#include <optional>

namespace nereid {
namespace {

constexpr absl::string_view kPatterns[] = {
    "/v2",
    "/v2/models/stats",
    "/v2/models/{model}[/versions/{version}]",
    "/v2/models/{model}[/versions/{version}]/stats",
    "/v2/models/{model}/trace/setting",
    "/v2/repository[/{repository}]/index",
    "/v2/repository[/{repository}]/models/{model}/load",
    "/v2/memory[/region/{region}]/status",
    "/v1/{model}[/versions/{version}]",
    "/v1/{model}[/versions/{version}]:predict",
};

struct Case {
  const char* path;
  absl::string_view pattern;
  const char* model = "";
  const char* version = "";
  const char* region = "";
  const char* repository = "";
};

TEST(RouterTest, FindsThePatternAndTheNames) {
  const Router router(kPatterns);
  const Case cases[] = {
      {"/v2", kPatterns[0]},
      {"/v2/models/stats", kPatterns[1]},
      {"/v2/models/m", kPatterns[2], "m"},
      {"/v2/models/m/versions/12", kPatterns[2], "m", "12"},
      {"/v2/models/versions/versions/1", kPatterns[2], "versions", "1"},
      {"/v2/models/stats/stats", kPatterns[3], "stats"},
      {"/v2/models/stats/versions/1", kPatterns[2], "stats", "1"},
      {"/v2/models/m/versions/2/stats", kPatterns[3], "m", "2"},
      {"/v2/models/m/trace/setting", kPatterns[4], "m"},
      {"/v2/models/a%20b%2Fc%zz%4/stats", kPatterns[3], "a b/c%zz%4"},
      {"/v2/memory/status", kPatterns[7]},
      {"/v2/memory/region/%72/status", kPatterns[7], "", "", "r"},
      {"/v2/repository/index", kPatterns[5]},
      {"/v2/repository/n/index", kPatterns[5], "", "", "", "n"},
      {"/v2/repository/models/index", kPatterns[5], "", "", "", "models"},
      {"/v2/repository/models/m/load", kPatterns[6], "m"},
      {"/v2/repository/n/models/m/load", kPatterns[6], "m", "", "", "n"},
      {"/v1/m:predict", kPatterns[9], "m"},
      {"/v1/m:predict:predict", kPatterns[9], "m:predict"},
      {"/v1/m:classify", kPatterns[8], "m:classify"},
      {"/v1/:predict", kPatterns[8], ":predict"},
      {"/v1/m/versions/4:predict", kPatterns[9], "m", "4"},
      {"/v1/m:predict/versions/4", kPatterns[8], "m:predict", "4"},
      {"/v2/repository/models/models/m/load", kPatterns[6], "m", "", "", "models"},
  };
  for (const Case& c : cases) {
    const std::optional<RouteMatch> match = router.Match(c.path);
    ASSERT_TRUE(match.has_value()) << c.path;
    EXPECT_EQ(kPatterns[match->pattern], c.pattern) << c.path;
    EXPECT_EQ(match->names.model.Decoded(), c.model) << c.path;
    EXPECT_EQ(match->names.version.Decoded(), c.version) << c.path;
    EXPECT_EQ(match->names.region.Decoded(), c.region) << c.path;
    EXPECT_EQ(match->names.repository.Decoded(), c.repository) << c.path;
  }
}

TEST(RouterTest, PrefersLiteralSegmentsInAnyOrderOfThePatterns) {
  constexpr absl::string_view kLiteral = "/a/b/7";
  constexpr absl::string_view kLiteralFirst = "/a/b/{version}";
  constexpr absl::string_view kNameFirst = "/a/{model}/8";
  const absl::string_view orders[][3] = {{kLiteral, kLiteralFirst, kNameFirst},
                                         {kNameFirst, kLiteralFirst, kLiteral}};
  for (const auto& patterns : orders) {
    const Router router(patterns);
    const auto found = [&](absl::string_view path) {
      return patterns[router.Match(path).value().pattern];
    };
    EXPECT_EQ(found("/a/b/7"), kLiteral);
    EXPECT_EQ(found("/a/b/8"), kLiteralFirst);
    EXPECT_EQ(found("/a/c/8"), kNameFirst);
    EXPECT_FALSE(router.Match("/a/c/7").has_value());
  }
}

TEST(RouterTest, MatchesWholePathsOnly) {
  const Router router(kPatterns);
  for (const char* path : {"",
                           "/",
                           "v2",
                           "/v2/",
                           "//v2",
                           "/v2x",
                           "/v2/models",
                           "/v2/models/",
                           "/v2/models//stats",
                           "/v2/models/m/",
                           "/v2/models/m/statsx",
                           "/v2/models/m/stats/",
                           "/v2/models/m/n/stats",
                           "/v2/models/m/versions",
                           "/v2/models/m/versions/",
                           "/v2/models/m/versions/x/stats",
                           "/v2/models/m/versions/1x",
                           "/v2/models/m/versions/-1",
                           "/v2/models/m/versions/1/trace/setting",
                           "/v2/repository",
                           "/v2/repositoryx/index",
                           "/v2/repository//index",
                           "/v2/repository/a/b/index",
                           "/v2/repository/models//load",
                           "/v2/memory/region//status",
                           "/v2/memory/region/r",
                           "/v2/memory/region/r/s/status"}) {
    EXPECT_FALSE(router.Match(path).has_value()) << path;
  }
}

}  // namespace
}  // namespace nereid
