// SPDX-License-Identifier: Apache-2.0
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
  EXPECT_TRUE(*ReadIndex(R"({"ready":true})"));
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
            "unexpected error on creating Triton parameter: unknown load parameter 'other'. "
            "Known: config, file:<path>");
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
      std::string(ReadUnload(R"({"parameters":{"unload_dependents":"x"}})").status().message()),
      testing::StartsWith("Unable to parse 'unload_dependents': "));
}

TEST(RepositoryRequestTest, UnknownMembersAreRefusedByName) {
  EXPECT_EQ(ReadIndex(R"({"raedy":true})").status(),
            absl::InvalidArgumentError("unknown member of an index request 'raedy'. Known: ready"));
  EXPECT_EQ(ReadIndex(R"({"Ready":true})").status(),
            absl::InvalidArgumentError("unknown member of an index request 'Ready', did you mean "
                                       "'ready'? Known: ready"));
  EXPECT_EQ(ReadLoad(R"({"parameter":{}})").status(),
            absl::InvalidArgumentError("unknown member of a load request 'parameter', did you mean "
                                       "'parameters'? Known: parameters"));
  EXPECT_EQ(ReadUnload(R"({"unload_dependents":true})").status(),
            absl::InvalidArgumentError("unknown member of an unload request 'unload_dependents'. "
                                       "Known: parameters"));
  EXPECT_EQ(ReadUnload(R"({"parameters":{"unload_dependent":true}})").status(),
            absl::InvalidArgumentError("unknown unload parameter 'unload_dependent', did you mean "
                                       "'unload_dependents'? Known: unload_dependents"));
  // A long name is cut, and none is looked for.
  const std::string name(100'000, 'n');
  EXPECT_EQ(ReadLoad("{\"" + name + "\":1}").status(),
            absl::InvalidArgumentError("unknown member of a load request '" + name.substr(0, 64) +
                                       "...'. Known: parameters"));
}

}  // namespace
}  // namespace nereid
