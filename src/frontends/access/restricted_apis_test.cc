// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/restricted_apis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

using testing::HasSubstr;

constexpr RestrictedApis::OptionNames kNames = {"--http-restricted-api", "api"};

std::string ErrorOf(absl::string_view text) {
  RestrictedApis apis;
  const absl::Status status = apis.Add(text, kNames);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_TRUE(apis.empty());
  return std::string(status.message());
}

TEST(RestrictedApisTest, GroupsNeedTheirHeader) {
  RestrictedApis apis;
  EXPECT_TRUE(apis.empty());
  ASSERT_TRUE(apis.Add("health,model-config:admin-key=a=b:c", kNames).ok());
  ASSERT_TRUE(apis.Add("inference:other=value", kNames).ok());
  EXPECT_FALSE(apis.empty());
  EXPECT_EQ(apis.Find(ApiGroup::kMetadata), nullptr);
  for (const ApiGroup group : {ApiGroup::kHealth, ApiGroup::kModelConfig}) {
    ASSERT_NE(apis.Find(group), nullptr);
    EXPECT_EQ(apis.Find(group)->key, "admin-key");
    EXPECT_TRUE(apis.Find(group)->value == Secret("a=b:c"));
    EXPECT_FALSE(apis.Find(group)->value == Secret("a=b"));
  }
  EXPECT_EQ(apis.Find(ApiGroup::kInference)->key, "other");
}

TEST(RestrictedApisTest, AGroupOfTheOtherProtocolIsRefused) {
  RestrictedApis apis;
  const absl::Status status =
      apis.Add("nereid:key=value", {"--grpc-restricted-protocol", "protocol", kGrpcApiGroups});
  EXPECT_EQ(status.message(),
            "unknown restricted protocol 'nereid' \n(known: health, metadata, inference, "
            "shared-memory, model-config, model-repository, statistics, trace, logging)");
  EXPECT_TRUE(apis.Add("nereid:key=value", kNames).ok());
}

TEST(RestrictedApisTest, AnotherFormIsRefused) {
  for (const char* text : {"", "health", "health:", "health:key", "health:=value",
                           "health:key=", ":key=value", "key=value"}) {
    EXPECT_EQ(ErrorOf(text), std::string("--http-restricted-api option format is '<config "
                                         "name>:<setting>=<value>'. Got ") +
                                 text + "\n");
  }
}

TEST(RestrictedApisTest, AnUnknownGroupIsRefused) {
  EXPECT_THAT(ErrorOf("nothing:key=value"), HasSubstr("unknown restricted api 'nothing' \n"));
  EXPECT_THAT(ErrorOf(",health:key=value"), HasSubstr("unknown restricted api '' \n"));
}

TEST(RestrictedApisTest, AGroupIsRestrictedOnce) {
  RestrictedApis apis;
  ASSERT_TRUE(apis.Add("health:key=value", kNames).ok());
  EXPECT_EQ(apis.Add("inference,health:other=value", kNames).message(),
            "restricted api 'health' can not be specified in multiple config groups\n");
  EXPECT_EQ(RestrictedApis().Add("trace,trace:other=value", kNames).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid
