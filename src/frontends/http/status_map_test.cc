// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/status_map.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(StatusMapTest, MapsAsTheProtocolSays) {
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kOk), 200);
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kInternal), 500);
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kNotFound), 404);
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kUnavailable), 503);
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kUnimplemented), 501);
  for (const auto code : {absl::StatusCode::kInvalidArgument, absl::StatusCode::kAlreadyExists,
                          absl::StatusCode::kCancelled, absl::StatusCode::kUnknown}) {
    EXPECT_EQ(HttpStatusOf(code), 400);
  }
}

TEST(StatusMapTest, ErrorsAreJson) {
  const HttpResponse response = StatusResponse(absl::NotFoundError("no \"x\"\n"));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.text, R"({"error":"no \"x\"\n"})");
}

}  // namespace
}  // namespace nereid
