// SPDX-License-Identifier: Apache-2.0
#include "config/version_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = VersionPolicy::Kind;

VersionSelection Select(const std::vector<std::string>& directories, const VersionPolicy& policy) {
  return SelectVersions("m", directories, policy);
}

TEST(VersionPolicyTest, LatestTakesTheLargestByNumber) {
  const std::vector<std::string> directories = {"1", "10", "9"};
  EXPECT_THAT(Select(directories, {}).versions, ElementsAre(10));
  EXPECT_THAT(Select(directories, {Kind::kLatest, 2, {}}).versions, ElementsAre(9, 10));
  EXPECT_THAT(Select(directories, {Kind::kLatest, 4'000'000'000, {}}).versions,
              ElementsAre(1, 9, 10));
  EXPECT_THAT(Select(directories, {Kind::kLatest, 0, {}}).versions, IsEmpty());
}

TEST(VersionPolicyTest, AllTakesEveryOne) {
  EXPECT_THAT(Select({"0", "3", "20", "1"}, {Kind::kAll, 0, {}}).versions,
              ElementsAre(0, 1, 3, 20));
}

TEST(VersionPolicyTest, SpecificTakesThoseThatExist) {
  const VersionSelection selection = Select({"1", "3"}, {Kind::kSpecific, 0, {3, 2, 3, 1}});
  EXPECT_THAT(selection.versions, ElementsAre(1, 3));
  EXPECT_THAT(selection.errors,
              ElementsAre("version 2 of model 'm' is asked for by its version policy, but there is "
                          "no such version directory"));
}

TEST(VersionPolicyTest, OtherDirectoriesAreIgnoredWithAWarningOrSilently) {
  const VersionSelection selection =
      Select({"003", "1", "1x", "-1", "+2", " 4", "99999999999999999999", "abc", "configs",
              "initial_state", "warmup"},
             {Kind::kAll, 0, {}});
  EXPECT_THAT(selection.versions, ElementsAre(1));
  ASSERT_EQ(selection.warnings.size(), 7u);
  EXPECT_EQ(selection.warnings[0],
            "ignore version directory '003' which contains leading zeros in its directory name");
  EXPECT_EQ(selection.warnings[6],
            "ignore version directory 'abc' which fails to convert to integral number");
}

TEST(VersionPolicyTest, ListsDirectoriesNotFiles) {
  FakeFileSystem fs;
  fs.MakeDirectory("/r/m/1");
  fs.WriteFile("/r/m/2", "a file");
  EXPECT_THAT(ListServedVersions(fs, "/r/m", "m", {}).value(), ElementsAre(1));
}

TEST(VersionPolicyTest, NoVersionIsAnError) {
  FakeFileSystem fs;
  fs.WriteFile("/r/m/config.pbtxt", "");
  EXPECT_EQ(ListServedVersions(fs, "/r/m", "m", {}).status(),
            absl::InvalidArgumentError("at least one version must be available under the version "
                                       "policy of model 'm' (/r/m holds no directories)"));
  fs.MakeDirectory("/r/m/a");
  fs.MakeDirectory("/r/m/02");
  EXPECT_EQ(ListServedVersions(fs, "/r/m", "m", {}).status(),
            absl::InvalidArgumentError("at least one version must be available under the version "
                                       "policy of model 'm' (/r/m holds the directories: 02, a)"));
  EXPECT_TRUE(absl::IsNotFound(ListServedVersions(fs, "/r/n", "n", {}).status()));
}

}  // namespace
}  // namespace nereid
