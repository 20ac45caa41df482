// SPDX-License-Identifier: Apache-2.0
#include "caches/redis/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace nereid_cache {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

const char* NoEnvironment(const char*) { return nullptr; }

std::string ErrorOf(const char* json) {
  auto options = ParseRedisOptions(json, NoEnvironment);
  return options.ok() ? "" : options.error().message();
}

TEST(RedisOptionsTest, DefaultsAndEverySetting) {
  auto least = ParseRedisOptions(R"({"host":"h","port":"6379"})", NoEnvironment);
  ASSERT_TRUE(least.ok());
  EXPECT_EQ(least->host, "h");
  EXPECT_EQ(least->port, 6379);
  EXPECT_EQ(least->user, "");
  EXPECT_EQ(least->password, "");
  EXPECT_EQ(least->db, 0u);
  EXPECT_EQ(least->connect_timeout, milliseconds(1000));
  EXPECT_EQ(least->socket_timeout, milliseconds(1000));
  EXPECT_EQ(least->pool_size, 4u);
  EXPECT_EQ(least->wait_timeout, milliseconds(100));
  EXPECT_EQ(least->ttl, std::chrono::seconds(0));
  auto all = ParseRedisOptions(
      R"({"host":"h","port":1,"user":"u","password":"p","db":"3","connect_timeout":"0",
          "socket_timeout":20,"pool_size":"9","wait_timeout":"5","tls_enabled":"false",
          "ttl_seconds":"60"})",
      NoEnvironment);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->user, "u");
  EXPECT_EQ(all->password, "p");
  EXPECT_EQ(all->db, 3u);
  EXPECT_EQ(all->connect_timeout, milliseconds(0));
  EXPECT_EQ(all->socket_timeout, milliseconds(20));
  EXPECT_EQ(all->pool_size, 9u);
  EXPECT_EQ(all->wait_timeout, milliseconds(5));
  EXPECT_EQ(all->ttl, std::chrono::seconds(60));
}

TEST(RedisOptionsTest, CredentialsOfTheEnvironmentGiveWayToSettings) {
  const auto environment = [](const char* name) -> const char* {
    if (std::strcmp(name, "TRITONCACHE_REDIS_USERNAME") == 0) return "me";
    return std::strcmp(name, "TRITONCACHE_REDIS_PASSWORD") == 0 ? "secret" : nullptr;
  };
  auto options = ParseRedisOptions(R"({"host":"h","port":1})", environment);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->user, "me");
  EXPECT_EQ(options->password, "secret");
  options = ParseRedisOptions(R"({"host":"h","port":1,"user":"u","password":"p"})", environment);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->user, "u");
  EXPECT_EQ(options->password, "p");
}

TEST(RedisOptionsTest, WhatIsWrong) {
  EXPECT_THAT(ErrorOf(R"({"port":"6379"})"), HasSubstr("Must at a minimum specify"));
  EXPECT_THAT(ErrorOf(R"({"host":"h"})"), HasSubstr("Must at a minimum specify"));
  EXPECT_THAT(ErrorOf(R"({"host":"h","port":"1","pool_size":"0"})"),
              HasSubstr("'pool_size' must be a number from 1 to 86400000, got '0'"));
  EXPECT_THAT(ErrorOf(R"({"host":"h","port":"1","socket_timeout":"soon"})"),
              HasSubstr("'socket_timeout' must be a number"));
  EXPECT_THAT(ErrorOf(R"({"host":"h","port":"1","ttl_seconds":"-1"})"),
              HasSubstr("'ttl_seconds' must be a number from 0"));
  EXPECT_THAT(ErrorOf(R"({"host":"h","port":"1","tls_enabled":"true"})"), HasSubstr("no TLS"));
  EXPECT_THAT(ErrorOf(R"({"host":"h","port":"1","passwd":"x"})"),
              HasSubstr("has no setting 'passwd'"));
}

TEST(RedisOptionsTest, APortThatIsNoneIsLeftToTheConnection) {
  for (const char* json : {R"({"host":"h","port":"nonexistent"})", R"({"host":"h","port":65536})",
                           R"({"host":"h","port":4294967297})"}) {
    auto options = ParseRedisOptions(json, NoEnvironment);
    ASSERT_TRUE(options.ok()) << json;
    EXPECT_EQ(options->port, 0) << json;
  }
}

}  // namespace
}  // namespace nereid_cache
