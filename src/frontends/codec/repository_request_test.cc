#include "frontends/codec/repository_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

absl::StatusOr<std::vector<LoadParameter>> ReadLoad(absl::string_view body) {
  return ReadLoadRequest(body, ParseBudget::UpTo(2 << 20));
}
absl::StatusOr<bool> ReadUnload(absl::string_view body) {
  return ReadUnloadRequest(body, ParseBudget::UpTo(2 << 20));
}
absl::StatusOr<bool> ReadIndex(absl::string_view body) {
  return ReadIndexRequest(body, ParseBudget::UpTo(2 << 20));
}

TEST(RepositoryRequestTest, ReadsReady) {
  EXPECT_FALSE(*ReadIndex(""));
  EXPECT_FALSE(*ReadIndex("{}"));
  EXPECT_FALSE(*ReadIndex(R"({"ready":false})"));
  EXPECT_TRUE(*ReadIndex(R"({"other":1,"ready":true})"));
}

TEST(RepositoryRequestTest, RefusesEverythingElse) {
  EXPECT_EQ(ReadIndex(R"({"ready":"x"})").status(),
            absl::InvalidArgumentError("Invalid value for 'ready': expected a boolean"));
  EXPECT_EQ(ReadIndex("[]").status(),
            absl::InvalidArgumentError("attempt to access JSON non-object as object"));
  const absl::Status broken = ReadIndex("{\"ready\"").status();
  EXPECT_EQ(broken.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(broken.message()),
              testing::StartsWith("failed to parse the request JSON buffer: "));
  EXPECT_FALSE(ReadIndex(std::string(1'000'000, '[')).ok());
}

TEST(RepositoryRequestTest, ReadsLoadParameters) {
  EXPECT_TRUE(ReadLoad("")->empty());
  EXPECT_TRUE(ReadLoad("{}")->empty());
  const auto load = ReadLoad(R"({"parameters":{"config":"{}","file:1/a":"aGVsbG8="}})");
  ASSERT_TRUE(load.ok()) << load.status();
  ASSERT_EQ(load->size(), 2u);
  EXPECT_EQ((*load)[0].name, "config");
  EXPECT_EQ((*load)[0].type, LoadParameter::Type::kString);
  EXPECT_EQ((*load)[1].name, "file:1/a");
  EXPECT_EQ((*load)[1].type, LoadParameter::Type::kBytes);
  EXPECT_EQ((*load)[1].value, "hello");
}

TEST(RepositoryRequestTest, RefusesOtherLoadParameters) {
  const auto error = [](absl::string_view body) {
    return std::string(ReadLoad(body).status().message());
  };
  EXPECT_EQ(error(R"({"parameters":{"other":"x"}})"),
            "unexpected error on creating Triton parameter");
  EXPECT_EQ(error(R"({"parameters":{"config":{}}})"),
            "attempt to access JSON non-string as string");
  EXPECT_EQ(error(R"({"parameters":[]})"), "attempt to access JSON non-object as object");
  EXPECT_EQ(error(R"({"parameters":{"file:1":"?"}})"),
            "the value of load parameter 'file:1' is not in base64");
}

TEST(RepositoryRequestTest, ReadsUnloadDependents) {
  EXPECT_FALSE(*ReadUnload(""));
  EXPECT_FALSE(*ReadUnload(R"({"parameters":{}})"));
  EXPECT_TRUE(*ReadUnload(R"({"parameters":{"unload_dependents":true}})"));
  EXPECT_THAT(
      std::string(
          ReadUnload(R"({"parameters":{"unload_dependents":"x"}})").status().message()),
      testing::StartsWith("Unable to parse 'unload_dependents': "));
}

}  // namespace
}  // namespace nereid
