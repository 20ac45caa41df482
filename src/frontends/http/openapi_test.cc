// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/watched_files.h"
#include "frontends/access/api_keys.h"
#include "frontends/http/openapi_schemas.h"

namespace nereid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(OpenApiTest, AnOptionalPartMakesTwoPaths) {
  EXPECT_THAT(PathsOf("/v2"), ElementsAre("/v2"));
  EXPECT_THAT(
      PathsOf("/v2/models/{model}[/versions/{version}]/infer"),
      ElementsAre("/v2/models/{model}/infer", "/v2/models/{model}/versions/{version}/infer"));
}

class OpenApiOfTest : public testing::TestWithParam<HttpApi (*)()> {};

INSTANTIATE_TEST_SUITE_P(Apis, OpenApiOfTest, testing::Values(&InferenceApi, &TfsApi));

// What the document says of a route comes with the route, so none may lack it.
TEST_P(OpenApiOfTest, EachRouteIsDescribedBySchemasThatExist) {
  std::set<std::string> paths;
  for (const HttpRoute& route : GetParam()().routes) {
    ASSERT_NE(route.doc.summary, nullptr) << route.pattern;
    for (const char* schema : {route.doc.request, route.doc.response}) {
      if (schema == nullptr) continue;
      EXPECT_THAT(kOpenApiSchemas, HasSubstr("\n\"" + std::string(schema) + "\": {"))
          << route.pattern;
    }
    for (const std::string& path : PathsOf(route.pattern)) {
      EXPECT_TRUE(paths.insert(path).second) << path;
    }
  }
}

// A reader of JSON takes the last of two members with one name, and says nothing.
TEST(OpenApiTest, SchemasHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const absl::string_view line : absl::StrSplit(kOpenApiSchemas, '\n')) {
    if (line.empty() || line.front() != '"') continue;
    EXPECT_TRUE(names.emplace(line.substr(0, line.find(':'))).second) << line;
  }
  EXPECT_GT(names.size(), 10u);
}

TEST(OpenApiTest, ARouteBecomesItsPaths) {
  const HttpRoute route = {"/v2/things[/{model}]/make",
                           RouteMethods::kGetAndPost,
                           ApiGroup::kInference,
                           nullptr,
                           {"Makes it", "Live", "Ready", BodyForm::kJson, true}};
  const std::string json = OpenApiDocument({&route, 1}, "1.2", OpenApiSecurity(AccessControl()));
  EXPECT_THAT(json, HasSubstr(R"({"openapi":"3.1.0","info":{"title":"Nereid")"));
  EXPECT_THAT(json, HasSubstr(R"("version":"1.2")"));
  EXPECT_THAT(json, HasSubstr(R"("/v2/things/make":{"parameters":[],"get":{"operationId":)"
                              R"("get_v2_things_make","summary":"Makes it","tags":["inference"],)"
                              R"("responses":{"200":)"));
  EXPECT_THAT(json, HasSubstr(R"("/v2/things/{model}/make":{"parameters":[{"name":"model",)"
                              R"("in":"path","required":true,)"));
  EXPECT_THAT(json, HasSubstr(R"("post":{"operationId":"post_v2_things_model_make",)"));
  EXPECT_THAT(json, HasSubstr(R"("requestBody":{"required":false,"content":{"application/json":)"
                              R"({"schema":{"$ref":"#/components/schemas/Ready"}}}})"));
  EXPECT_THAT(json, HasSubstr(R"("head":{"operationId":"head_v2_things_make",)"));
  EXPECT_THAT(json, HasSubstr(R"("options":{"operationId":"options_v2_things_make",)"));
  EXPECT_THAT(json, Not(HasSubstr("ecurity")));
  EXPECT_THAT(json, Not(HasSubstr("\"501\"")));
  EXPECT_THAT(json, Not(HasSubstr("\"500\"")));
}

TEST(OpenApiTest, ANameMayEndWithinItsSegment) {
  const HttpRoute route = {
      "/v1/{model}:make", RouteMethods::kPost, ApiGroup::kInference, nullptr, {"Makes it", "Live"}};
  const std::string json = OpenApiDocument({&route, 1}, "1.2", OpenApiSecurity(AccessControl()));
  EXPECT_THAT(json, HasSubstr(R"("/v1/{model}:make":{"parameters":[{"name":"model",)"));
  EXPECT_THAT(json, HasSubstr(R"("operationId":"post_v1_modelmake")"));
}

TEST_P(OpenApiOfTest, EachBodyHasASchemaThatExists) {
  const std::string json =
      OpenApiDocument(GetParam()().routes, "1.2", OpenApiSecurity(AccessControl()));
  for (const std::string form : {R"("application/json":{)", R"("application/octet-stream":{)",
                                 R"("text/event-stream":{)", R"("text/html":{)"}) {
    for (size_t at = json.find(form); at != std::string::npos; at = json.find(form, at + 1)) {
      constexpr absl::string_view kSchema = R"("schema":{"$ref":"#/components/schemas/)";
      absl::string_view rest = absl::string_view(json).substr(at + form.size());
      ASSERT_TRUE(absl::ConsumePrefix(&rest, kSchema)) << rest.substr(0, 80);
      EXPECT_THAT(kOpenApiSchemas,
                  HasSubstr("\n\"" + std::string(rest.substr(0, rest.find('"'))) + "\": {"));
    }
    if (GetParam() == &InferenceApi) EXPECT_THAT(json, HasSubstr(form)) << "the test finds nothing";
  }
}

TEST(OpenApiTest, WhatAGroupNeedsIsSaidWhereItIsNeeded) {
  RestrictedApis restricted;
  const RestrictedApis::OptionNames names = {"--http-restricted-api", "api"};
  ASSERT_TRUE(restricted.Add("inference,trace:X-One=secret", names).ok());
  ASSERT_TRUE(restricted.Add("health:x-two=secret", names).ok());
  const AccessControl access(restricted, "", "API", nullptr);
  const HttpRoute routes[] = {
      {"/a", RouteMethods::kPost, ApiGroup::kInference, nullptr, {"a"}},
      {"/b", RouteMethods::kPost, ApiGroup::kLogging, nullptr, {"b"}},
  };
  const std::string json = OpenApiDocument(routes, "1", OpenApiSecurity(access));
  EXPECT_THAT(json,
              HasSubstr(R"("post":{"operationId":"post_a","summary":"a","tags":["inference"],)"
                        R"("security":[{"header2":[]}],)"));
  EXPECT_THAT(json, HasSubstr(R"("options":{"operationId":"options_a","summary":"The methods of )"
                              R"(this path, for people and browsers","tags":["inference"],)"
                              R"("responses":)"));
  EXPECT_THAT(json, HasSubstr(R"("post":{"operationId":"post_b","summary":"b","tags":["logging"],)"
                              R"("responses":)"));
  EXPECT_THAT(json, HasSubstr(R"("securitySchemes":{"header1":{"type":"apiKey","in":"header",)"
                              R"("name":"x-two",)"));
  EXPECT_THAT(json, HasSubstr(R"("header2":{"type":"apiKey","in":"header","name":"x-one",)"));
  EXPECT_THAT(json, Not(HasSubstr("bearer")));
  EXPECT_THAT(json, Not(HasSubstr("secret")));
}

TEST(OpenApiTest, OnlyRegisteringASegmentMayFailInTheServer) {
  size_t routes = 0;
  for (const HttpRoute& route : AllRoutes()) {
    if (route.doc.server_error == nullptr) continue;
    EXPECT_THAT(route.pattern, HasSubstr("/v2/systemsharedmemory"));
    EXPECT_THAT(OpenApiDocument({&route, 1}, "1", OpenApiSecurity(AccessControl())),
                HasSubstr("\"500\":{"));
    ++routes;
  }
  EXPECT_EQ(routes, 1u);
}

TEST(OpenApiTest, TheTextIsMadeAgainOnlyWhenTheKeysOpenOtherGroups) {
  const std::string path = testing::TempDir() + "openapi_keys";
  const auto write = [&path](const std::string& text) { std::ofstream(path) << text; };
  write("all 0123456789abcdef");
  FakeClock clock;
  const auto keys = ApiKeys::Create(path, &clock);
  ASSERT_TRUE(keys.ok()) << keys.status();
  const AccessControl access(RestrictedApis(), "", "API", keys->get());
  OpenApiText openapi(AllRoutes(), "1.2", &access);
  const std::shared_ptr<const std::string> first = openapi.Get();
  EXPECT_EQ(*first, OpenApiDocument(AllRoutes(), "1.2", OpenApiSecurity(access)));
  EXPECT_EQ(openapi.Get(), first) << "the same text, not a copy";
  // Another key for the same groups changes nothing.
  write("all 0123456789abcdef\nall fedcba9876543210\n");
  clock.Advance(2 * WatchedFiles::kLookEvery);
  EXPECT_EQ(openapi.Get(), first);
  write("all 0123456789abcdef\nhealth,inference *\n");
  clock.Advance(2 * WatchedFiles::kLookEvery);
  const std::shared_ptr<const std::string> second = openapi.Get();
  EXPECT_LT(second->size(), first->size()) << "fewer operations need a key";
  EXPECT_EQ(*second, OpenApiDocument(AllRoutes(), "1.2", OpenApiSecurity(access)));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace nereid
