#include "frontends/codec/repository_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(RepositoryRequestTest, ReadsReady) {
  EXPECT_FALSE(*ReadIndexRequest(""));
  EXPECT_FALSE(*ReadIndexRequest("{}"));
  EXPECT_FALSE(*ReadIndexRequest(R"({"ready":false})"));
  EXPECT_TRUE(*ReadIndexRequest(R"({"other":1,"ready":true})"));
}

TEST(RepositoryRequestTest, RefusesEverythingElse) {
  EXPECT_EQ(ReadIndexRequest(R"({"ready":"x"})").status(),
            absl::InvalidArgumentError("Invalid value for 'ready': expected a boolean"));
  EXPECT_EQ(ReadIndexRequest("[]").status(),
            absl::InvalidArgumentError("attempt to access JSON non-object as object"));
  const absl::Status broken = ReadIndexRequest("{\"ready\"").status();
  EXPECT_EQ(broken.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(broken.message()),
              testing::StartsWith("failed to parse the request JSON buffer: "));
  EXPECT_FALSE(ReadIndexRequest(std::string(1'000'000, '[')).ok());
}

}  // namespace
}  // namespace nereid
