// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/routes.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace nereid {
namespace {

struct Expected {
  const char* path;
  const char* allow;
  const char* group;
};

// The routes of the protocol, beginning with the longest form of each.
constexpr Expected kExpected[] = {
    {"/", "GET, HEAD", "metadata"},
    {"/v2", "GET, HEAD", "metadata"},
    {"/v2/openapi.json", "GET, HEAD", "metadata"},
    {"/v2/health/live", "GET, HEAD", "health"},
    {"/v2/health/ready", "GET, HEAD", "health"},
    {"/v2/models/stats", "GET, HEAD", "statistics"},
    {"/v2/models/m/versions/1", "GET, HEAD", "metadata"},
    {"/v2/models/m", "GET, HEAD", "metadata"},
    {"/v2/models/m/versions/1/ready", "GET, HEAD", "health"},
    {"/v2/models/m/ready", "GET, HEAD", "health"},
    {"/v2/models/m/versions/1/config", "GET, HEAD", "model-config"},
    {"/v2/models/m/config", "GET, HEAD", "model-config"},
    {"/v2/models/m/versions/1/stats", "GET, HEAD", "statistics"},
    {"/v2/models/stats/stats", "GET, HEAD", "statistics"},
    {"/v2/models/m/versions/1/infer", "POST", "inference"},
    {"/v2/models/m/infer", "POST", "inference"},
    {"/v2/models/m/versions/1/generate", "POST", "inference"},
    {"/v2/models/m/generate", "POST", "inference"},
    {"/v2/models/m/versions/1/generate_stream", "POST", "inference"},
    {"/v2/models/m/generate_stream", "POST", "inference"},
    {"/v2/models/m/trace/setting", "GET, HEAD, POST", "trace"},
    {"/v2/trace/setting", "GET, HEAD, POST", "trace"},
    {"/v2/logging", "GET, HEAD, POST", "logging"},
    {"/v2/systemsharedmemory/region/r/status", "GET, HEAD", "shared-memory"},
    {"/v2/systemsharedmemory/status", "GET, HEAD", "shared-memory"},
    {"/v2/systemsharedmemory/region/r/register", "POST", "shared-memory"},
    {"/v2/systemsharedmemory/region/r/unregister", "POST", "shared-memory"},
    {"/v2/systemsharedmemory/unregister", "POST", "shared-memory"},
    {"/v2/cudasharedmemory/region/r/status", "GET, HEAD", "shared-memory"},
    {"/v2/cudasharedmemory/status", "GET, HEAD", "shared-memory"},
    {"/v2/cudasharedmemory/region/r/register", "POST", "shared-memory"},
    {"/v2/cudasharedmemory/register", "POST", "shared-memory"},
    {"/v2/cudasharedmemory/region/r/unregister", "POST", "shared-memory"},
    {"/v2/cudasharedmemory/unregister", "POST", "shared-memory"},
    {"/v2/repository/n/index", "POST", "model-repository"},
    {"/v2/repository/index", "POST", "model-repository"},
    {"/v2/repository/n/models/m/load", "POST", "model-repository"},
    {"/v2/repository/models/m/load", "POST", "model-repository"},
    {"/v2/repository/n/models/m/unload", "POST", "model-repository"},
    {"/v2/repository/models/m/unload", "POST", "model-repository"},
    {"/v2/nereid/models", "GET, HEAD", "nereid"},
    {"/v2/nereid/live", "GET, HEAD", "nereid"},
    {"/v2/nereid/log", "GET, HEAD", "nereid"},
    {"/v2/nereid/models/m/versions/1/timeline", "GET, HEAD", "nereid"},
    {"/v2/nereid/models/m/timeline", "GET, HEAD", "nereid"},
    {"/v2/nereid/requests/r", "GET, HEAD", "nereid"},
    {"/v2/nereid/trace", "GET, HEAD", "nereid"},
    {"/v1/models", "GET, HEAD", "metadata"},
    {"/v1/models/m", "GET, HEAD", "metadata"},
    {"/v1/completions", "POST", "inference"},
    {"/v1/chat/completions", "POST", "inference"},
    {"/v1/embeddings", "POST", "inference"},
};

TEST(RoutesTest, AreThoseOfTheProtocol) {
  const std::vector<HttpRoute> routes = AllRoutes();
  const Router router = MakeRouter(routes);
  std::set<size_t> seen;
  for (const Expected& expected : kExpected) {
    const std::optional<RouteMatch> match = router.Match(expected.path);
    ASSERT_TRUE(match.has_value()) << expected.path;
    EXPECT_STREQ(AllowedMethods(routes[match->pattern].methods), expected.allow) << expected.path;
    EXPECT_EQ(ApiGroupName(routes[match->pattern].group), expected.group) << expected.path;
    seen.insert(match->pattern);
  }
  // There are no other routes.
  EXPECT_EQ(seen.size(), routes.size());
  EXPECT_FALSE(router.Match("/v2/models/m/versions/1/trace/setting").has_value());
  EXPECT_FALSE(router.Match("/v2/health").has_value());
  EXPECT_FALSE(router.Match("/metrics").has_value());
}

TEST(RoutesTest, ThoseOfTensorFlowServing) {
  const std::vector<HttpRoute> routes(TfsRoutes().begin(), TfsRoutes().end());
  const Router router = MakeRouter(routes);
  std::set<size_t> seen;
  for (const char* version : {"", "/versions/3", "/labels/stable"}) {
    for (const auto& [end, allow, group] : {std::tuple("", "GET, HEAD", "metadata"),
                                            {"/metadata", "GET, HEAD", "metadata"},
                                            {":predict", "POST", "inference"},
                                            {":classify", "POST", "inference"},
                                            {":regress", "POST", "inference"}}) {
      const std::string path = absl::StrCat("/v1/models/a:b", version, end);
      const std::optional<RouteMatch> match = router.Match(path);
      ASSERT_TRUE(match.has_value()) << path;
      EXPECT_STREQ(AllowedMethods(routes[match->pattern].methods), allow) << path;
      EXPECT_EQ(ApiGroupName(routes[match->pattern].group), group) << path;
      EXPECT_EQ(match->names.model.encoded, "a:b") << path;
      seen.insert(match->pattern);
    }
  }
  ASSERT_TRUE(router.Match("/v1/openapi.json").has_value());
  EXPECT_EQ(seen.size() + 1, routes.size());
  EXPECT_FALSE(router.Match("/v1/models/m/versions/stable:predict").has_value());
  EXPECT_FALSE(router.Match("/v2/models/m/infer").has_value());
}

// Checks the requirements of Router: the path of a pattern that is malformed, or hidden by another
// pattern, would lead elsewhere.
class RoutesOfTest : public testing::TestWithParam<HttpApi (*)()> {};

INSTANTIATE_TEST_SUITE_P(Apis, RoutesOfTest, testing::Values(&InferenceApi, &TfsApi));

TEST_P(RoutesOfTest, EachPatternLeadsToItsOwnRow) {
  const std::vector<HttpRoute> routes = GetParam()().routes;
  const Router router = MakeRouter(routes);
  for (size_t i = 0; i < routes.size(); ++i) {
    const std::string path = absl::StrReplaceAll(routes[i].pattern, {{"[", ""},
                                                                     {"]", ""},
                                                                     {"{model}", "m"},
                                                                     {"{version}", "7"},
                                                                     {"{label}", "l"},
                                                                     {"{region}", "r"},
                                                                     {"{repository}", "n"},
                                                                     {"{request}", "q"}});
    const std::optional<RouteMatch> match = router.Match(path);
    ASSERT_TRUE(match.has_value()) << routes[i].pattern;
    EXPECT_EQ(routes[match->pattern].pattern, routes[i].pattern);
    const auto has = [&](const char* name) {
      return routes[i].pattern.find(name) != absl::string_view::npos;
    };
    EXPECT_EQ(match->names.model.encoded, has("{model}") ? "m" : "") << path;
    EXPECT_EQ(match->names.version.encoded, has("{version}") ? "7" : "") << path;
    EXPECT_EQ(match->names.label.encoded, has("{label}") ? "l" : "") << path;
    EXPECT_EQ(match->names.region.encoded, has("{region}") ? "r" : "") << path;
    EXPECT_EQ(match->names.repository.encoded, has("{repository}") ? "n" : "") << path;
    EXPECT_EQ(match->names.request.encoded, has("{request}") ? "q" : "") << path;
  }
}

TEST(RoutesTest, KnowsTheMethods) {
  EXPECT_TRUE(IsMethodAllowed(RouteMethods::kGet, HttpMethod::kGet));
  EXPECT_TRUE(IsMethodAllowed(RouteMethods::kGet, HttpMethod::kHead));
  EXPECT_FALSE(IsMethodAllowed(RouteMethods::kGet, HttpMethod::kPost));
  EXPECT_TRUE(IsMethodAllowed(RouteMethods::kPost, HttpMethod::kPost));
  EXPECT_FALSE(IsMethodAllowed(RouteMethods::kPost, HttpMethod::kHead));
  EXPECT_TRUE(IsMethodAllowed(RouteMethods::kGetAndPost, HttpMethod::kPost));
  EXPECT_TRUE(IsMethodAllowed(RouteMethods::kGetAndPost, HttpMethod::kGet));
  EXPECT_FALSE(IsMethodAllowed(RouteMethods::kGetAndPost, HttpMethod::kOther));
}

}  // namespace
}  // namespace nereid
