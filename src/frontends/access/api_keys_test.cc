// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/api_keys.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace nereid {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr char kFirst[] = "first-key-0123456789";
constexpr char kSecond[] = "second-key-0123456789";

std::string ParseError(const std::string& text) {
  const absl::Status status = ApiKeySet::Parse(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(ApiKeySetTest, KeysOpenTheirGroups) {
  const auto keys = ApiKeySet::Parse(absl::StrCat("# groups keys\n\n", "inference,metadata\t",
                                                  kFirst, " # of the shop\r\n", "  all ", kSecond,
                                                  "\nhealth *\ntrace ", kFirst));
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->size(), 3u);
  EXPECT_EQ(keys->open(), SetOf(ApiGroup::kHealth));
  EXPECT_EQ(keys->OpenedBy(kFirst),
            SetOf(ApiGroup::kInference) | SetOf(ApiGroup::kMetadata) | SetOf(ApiGroup::kTrace));
  EXPECT_EQ(keys->OpenedBy(kSecond), kAllApiGroups);
  EXPECT_EQ(keys->OpenedBy("first-key-012345678"), 0);
  EXPECT_EQ(keys->OpenedBy(""), 0);
}

TEST(ApiKeySetTest, MistakesAreNamedByTheirLineAndNotByTheKey) {
  EXPECT_EQ(ParseError(""), "there is no key in it");
  EXPECT_EQ(ParseError("health *"), "there is no key in it");
  EXPECT_EQ(ParseError("\nhealth"), "line 2: a line must be '<groups> <key>', two words");
  EXPECT_EQ(ParseError(absl::StrCat("all ", kFirst, " more")),
            "line 1: a line must be '<groups> <key>', two words");
  EXPECT_EQ(ParseError("all short"),
            "line 1: a key must have 16 to 512 characters, but this one has 5");
  EXPECT_THAT(ParseError("all \xff"
                         "123456789012345"),
              HasSubstr("visible ASCII"));
  const std::string swapped = ParseError(absl::StrCat(kFirst, " all"));
  EXPECT_THAT(swapped, HasSubstr("line 1: the first word names an unknown group (known: all, hea"));
  EXPECT_THAT(swapped, Not(HasSubstr(kFirst)));
}

TEST(ApiKeySetTest, ThereIsALimit) {
  std::string text;
  for (size_t i = 0; i <= ApiKeySet::kMostKeys; ++i) {
    absl::StrAppend(&text, "all key-of-sixteen-", i, "\n");
  }
  EXPECT_THAT(ParseError(text), HasSubstr("there are more than 4096 keys"));
}

class ApiKeysTest : public testing::Test {
 protected:
  ApiKeysTest() : path_(fs::path(testing::TempDir()) / "api_keys_test.txt") {}
  ~ApiKeysTest() override { fs::remove(path_); }

  // As a deployment does: the file is replaced in one step.
  void Write(const std::string& text) {
    const fs::path next = path_.string() + ".next";
    std::ofstream(next) << text;
    fs::rename(next, path_);
  }
  std::unique_ptr<ApiKeys> Create() {
    auto keys = ApiKeys::Create(path_, &clock_);
    EXPECT_TRUE(keys.ok()) << keys.status();
    return keys.ok() ? *std::move(keys) : nullptr;
  }

  const fs::path path_;
  FakeClock clock_;
};

TEST_F(ApiKeysTest, AFileThatChangesIsReadAgain) {
  Write(absl::StrCat("all ", kFirst));
  const std::unique_ptr<ApiKeys> keys = Create();
  Write(absl::StrCat("all ", kSecond));
  EXPECT_NE(keys->Current()->OpenedBy(kFirst), 0);  // not yet looked at
  clock_.Advance(WatchedFiles::kLookEvery);
  EXPECT_EQ(keys->Current()->OpenedBy(kFirst), 0);
  EXPECT_EQ(keys->Current()->OpenedBy(kSecond), kAllApiGroups);
}

TEST_F(ApiKeysTest, AFileThatBecomesBadOrGoesLeavesTheOldKeys) {
  Write(absl::StrCat("all ", kFirst));
  const std::unique_ptr<ApiKeys> keys = Create();
  Write("nonsense");
  clock_.Advance(WatchedFiles::kLookEvery);
  EXPECT_NE(keys->Current()->OpenedBy(kFirst), 0);
  fs::remove(path_);
  clock_.Advance(WatchedFiles::kLookEvery);
  EXPECT_NE(keys->Current()->OpenedBy(kFirst), 0);
  Write(absl::StrCat("all ", kSecond));
  clock_.Advance(WatchedFiles::kLookEvery);
  EXPECT_EQ(keys->Current()->OpenedBy(kFirst), 0);
}

TEST_F(ApiKeysTest, ABadFileAtTheStartIsAnError) {
  const absl::Status missing = ApiKeys::Create(path_, &clock_).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(path_.string()));
  Write("all short");
  EXPECT_THAT(std::string(ApiKeys::Create(path_, &clock_).status().message()),
              HasSubstr("line 1: a key must have"));
  Write(std::string(ApiKeys::kMostFileBytes + 1, '\n'));
  EXPECT_THAT(std::string(ApiKeys::Create(path_, &clock_).status().message()),
              HasSubstr("more than 4194304 bytes"));
}

}  // namespace
}  // namespace nereid
