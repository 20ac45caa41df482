// SPDX-License-Identifier: Apache-2.0
#include "cloud/s3_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace nereid_cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

TEST(S3PlaceTest, UrlsOfAllForms) {
  const struct {
    const char* url;
    S3Place place;
  } cases[] = {
      {"s3://bucket", {"https", "", "bucket", ""}},
      {"s3://bucket/", {"https", "", "bucket", ""}},
      {"s3://bucket/models", {"https", "", "bucket", "models"}},
      {"s3://bucket//a///b/", {"https", "", "bucket", "a/b"}},
      {"s3:///bucket/a", {"https", "", "bucket", "a"}},
      {"s3://my.bucket-1/a", {"https", "", "my.bucket-1", "a"}},
      {"s3://localhost:9000/bucket", {"http", "localhost:9000", "bucket", ""}},
      {"s3://10.0.0.1:80/bucket/a/b", {"http", "10.0.0.1:80", "bucket", "a/b"}},
      {"s3://http://host:81/bucket/a", {"http", "host:81", "bucket", "a"}},
      {"s3://https://host.example:443/bucket//a/", {"https", "host.example:443", "bucket", "a"}},
  };
  for (const auto& test : cases) {
    const Outcome<S3Place> place = ParseS3Url(test.url);
    EXPECT_EQ(place.error, "") << test.url;
    EXPECT_EQ(place.value, test.place) << test.url;
  }
}

TEST(S3PlaceTest, UrlsThatNameNothing) {
  const struct {
    const char* url;
    const char* error;
  } cases[] = {
      {"s3://", "No bucket name found in path: s3://"},
      {"s3:////", "No bucket name found in path: s3:////"},
      {"s3://host:99/", "No bucket name found in path: s3://host:99/"},
      {"s3://https://host:99", "No bucket name found in path: s3://https://host:99"},
      {"s3://buck et/a", "Invalid bucket name: 'buck et'"},
      {"s3://host:port/bucket", "Invalid bucket name: 'host:port'"},
      {"s3://https://host/bucket",
       "the URL 's3://https://host/bucket' names a server without its port: "
       "s3://https://HOST:PORT/BUCKET/PATH would be right"},
      {"gs://bucket/a", "'gs://bucket/a' is no URL of S3: it would begin with s3://"},
  };
  for (const auto& test : cases) EXPECT_EQ(ParseS3Url(test.url).error, test.error) << test.url;
}

TEST(S3PlaceTest, KeysLieBelowThePrefix) {
  EXPECT_EQ((S3Place{"https", "", "b", ""}.KeyOf("")), "b");
  EXPECT_EQ((S3Place{"https", "", "b", ""}.KeyOf("m/1/x")), "b/m/1/x");
  EXPECT_EQ((S3Place{"https", "", "b", "p/q"}.KeyOf("")), "b/p/q");
  EXPECT_EQ((S3Place{"https", "", "b", "p/q"}.KeyOf("m")), "b/p/q/m");
}

TEST(S3PlaceTest, TheEnvironmentCountsWithoutAFile) {
  const auto both = FindCredentials(Variables({{"AWS_ACCESS_KEY_ID", "id"},
                                               {"AWS_SECRET_ACCESS_KEY", "secret"},
                                               {"AWS_SESSION_TOKEN", "token"},
                                               {"AWS_DEFAULT_REGION", "eu-1"},
                                               {"AWS_REGION", "eu-2"}}),
                                    "s3://bucket");
  EXPECT_EQ(both.value, (S3Credentials{"id", "secret", "token", "eu-1"}));
  const auto half = FindCredentials(
      Variables({{"AWS_ACCESS_KEY_ID", "id"}, {"AWS_REGION", "eu-2"}}), "s3://bucket");
  EXPECT_EQ(half.value, (S3Credentials{"", "", "", "eu-2"})) << "Amazon's chain finds the rest";
}

TEST(S3PlaceTest, TheLongestPrefixInTheFileWins) {
  const std::string json =
      R"({"gs": {"": "x"}, "s3": {
        "": {"key_id": "any", "secret_key": "1"},
        "s3://bucket/deep": {"key_id": "deep", "secret_key": "2", "region": "r"},
        "s3://bucket": {"key_id": "bucket", "secret_key": "3", "session_token": "t"},
        "s3://odd": "text"}})";
  const struct {
    const char* url;
    const char* key_id;
  } cases[] = {{"s3://bucket/deep/er", "deep"},
               {"s3://bucket/a", "bucket"},
               {"s3://other", "any"},
               {"s3://odd", "any"}};
  for (const auto& test : cases) {
    EXPECT_EQ(CredentialsFromJson(json, test.url).value.key_id, test.key_id) << test.url;
  }
  EXPECT_EQ(CredentialsFromJson(json, "s3://bucket/deep").value,
            (S3Credentials{"deep", "2", "", "r"}));
}

TEST(S3PlaceTest, AFileWithoutTheCredentials) {
  const std::string url = "s3://bucket/m";
  for (const char* json : {"{}", "[]", "7", R"({"s3": 7})", R"({"s3": {"s3://other": {}}})"}) {
    EXPECT_EQ(CredentialsFromJson(json, url).error, "Cannot match credential for path  " + url)
        << json;
  }
  EXPECT_THAT(CredentialsFromJson(R"({"s3": {"": {"profile": "work"}}})", url).error,
              HasSubstr("name the profile 'work'"));
  const std::string broken = CredentialsFromJson(R"({"s3": {"": {"secret_key": "hush")", url).error;
  EXPECT_THAT(broken, StartsWith("failed to parse the request JSON buffer: "));
  EXPECT_THAT(broken, Not(HasSubstr("hush")));
  EXPECT_EQ(FindCredentials(Variables({{"TRITON_CLOUD_CREDENTIAL_PATH", "/nowhere/file"},
                                       {"AWS_ACCESS_KEY_ID", "id"},
                                       {"AWS_SECRET_ACCESS_KEY", "secret"}}),
                            url)
                .error,
            "failed to open text file for read /nowhere/file: No such file or directory");
}

}  // namespace
}  // namespace nereid_cloud
