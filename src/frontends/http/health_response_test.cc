// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/health_response.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

constexpr HealthTexts kReady = {"ready", "Server not ready"};

TEST(HealthResponseTest, AHealthyServerSaysSo) {
  const HttpResponse response = HealthResponse(true, kReady, HealthBody::kJson);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.text, R"({"ready":true})");
  EXPECT_EQ(HealthResponse(true, {"live", ""}, HealthBody::kJson).text, R"({"live":true})");
}

TEST(HealthResponseTest, AModelIsNamed) {
  EXPECT_EQ(HealthResponse(true, kReady, HealthBody::kJson, "a\"b").text,
            R"({"name":"a\"b","ready":true})");
}

TEST(HealthResponseTest, AnUnhealthyOneSaysWhy) {
  const HttpResponse response = HealthResponse(false, kReady, HealthBody::kJson, "m");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.text, R"({"name":"m","ready":false,"error":"Server not ready"})");
}

TEST(HealthResponseTest, EmptyAsTheOriginals) {
  for (const bool healthy : {true, false}) {
    const HttpResponse response = HealthResponse(healthy, kReady, HealthBody::kEmpty, "m");
    EXPECT_EQ(response.status, healthy ? 200 : 503);
    EXPECT_EQ(response.text, "");
    EXPECT_EQ(response.content_type, "text/plain");
  }
  EXPECT_EQ(HealthResponse(absl::NotFoundError("no such model"), kReady, HealthBody::kEmpty).text,
            R"({"error":"no such model"})");
}

TEST(HealthResponseTest, AnErrorIsItsOwnAnswer) {
  const HttpResponse response =
      HealthResponse(absl::NotFoundError("no such model"), kReady, HealthBody::kJson, "m");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.text, R"({"error":"no such model"})");
}

}  // namespace
}  // namespace nereid
