// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/repository_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(RepositoryListTest, ThereMustBeARepository) {
  const FakeFileSystem files;
  EXPECT_EQ(RepositoryList(&files, {}, false).Check(),
            absl::InvalidArgumentError("--model-repository must be specified"));
}

TEST(RepositoryListTest, ARepositoryMustBeADirectory) {
  FakeFileSystem files;
  files.MakeDirectory("/models");
  EXPECT_TRUE(RepositoryList(&files, {"/models"}, false).Check().ok());
  const absl::Status status = RepositoryList(&files, {"/models", "/nowhere"}, false).Check();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("repository path is not a valid directory: '/nowhere': "));
  const absl::Status cloud = RepositoryList(&files, {"gs://bucket/models"}, false).Check();
  EXPECT_THAT(std::string(cloud.message()),
              EndsWith("; of cloud storage only S3 (s3://) is supported: copy or mount it, and "
                       "name that folder"));
}

TEST(RepositoryListTest, ModelsAreTheDirectoriesOfTheRepositories) {
  FakeFileSystem files;
  files.MakeDirectory("/models/a/1");
  files.MakeDirectory("/other/b/1");
  files.WriteFile("/models/README.md", "no model");
  files.MakeDirectory("/models/.git");
  const RepositoryList list(&files, {"/models", "/other", "/nowhere"}, false);
  EXPECT_THAT(list.Models(), ElementsAre(ModelId{"", "a"}, ModelId{"", "b"}));
}

TEST(RepositoryListTest, WithNamespacesTheyBelongToTheirRepository) {
  FakeFileSystem files;
  files.MakeDirectory("/x/m/1");
  files.MakeDirectory("/y/m/1");
  const RepositoryList list(&files, {"/x", "/y"}, true);
  EXPECT_THAT(list.Models(), ElementsAre(ModelId{"/x", "m"}, ModelId{"/y", "m"}));
}

TEST(RepositoryListTest, TheFolderOfOneModelStandsInForARepository) {
  FakeFileSystem files;
  files.MakeDirectory("/mnt/models/1");
  files.MakeDirectory("/other/b/1");
  const RepositoryList list(&files, {"/mnt/models", "/other"}, false, "a");
  EXPECT_TRUE(list.Check().ok());
  EXPECT_THAT(list.Models(), ElementsAre(ModelId{"", "a"}, ModelId{"", "b"}));
  EXPECT_EQ(RepositoryList(&files, {"/mnt/models"}, false, "a/b").Check().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RepositoryListTest, PathsAndNamesThatCannotBe) {
  FakeFileSystem files;
  files.MakeDirectory("/more");
  RepositoryList list(&files, {}, false);
  EXPECT_EQ(list.Register(std::string("/more\0x", 7), {}),
            absl::InvalidArgumentError("invalid repository path '/more\\x00x', repository path "
                                       "must not contain control characters"));
  for (const char* name : {"", "a/b", "..", "a\x01", "a\xff"}) {
    EXPECT_EQ(list.Register("/more", {{"directory", name}}).code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  }
  EXPECT_TRUE(list.Register("/more", {{"directory", "name"}}).ok());
}

TEST(RepositoryListTest, OfTwoNamesForModelsOneIsRefused) {
  FakeFileSystem files;
  files.MakeDirectory("/more");
  files.MakeDirectory("/third");
  RepositoryList list(&files, {}, false);
  ASSERT_TRUE(list.Register("/more", {{"directory", "called"}}).ok());
  EXPECT_EQ(list.Register("/more", {}),
            absl::AlreadyExistsError("model repository '/more' has already been registered"));
  EXPECT_EQ(list.Register("/third", {{"d", "called"}}),
            absl::AlreadyExistsError(
                "failed to register 'called', there is a conflicting mapping for 'called'"));
  ASSERT_TRUE(list.Unregister("/more").ok());
  EXPECT_TRUE(list.Register("/third", {{"d", "called"}}).ok()) << "the name is free again";
  EXPECT_THAT(list.Layout().repositories, ElementsAre("/third"));
  EXPECT_EQ(list.Register("/more", {{"a", "twice"}, {"b", "twice"}}),
            absl::InvalidArgumentError(
                "failed to register '/more', there is a conflicting mapping for 'twice'"));
  EXPECT_TRUE(list.Register("/more", {{"a", "one"}, {"a", "two"}, {"a", "two"}}).ok());
}

}  // namespace
}  // namespace nereid
