// SPDX-License-Identifier: Apache-2.0
#include "filesystem/cloud/cloud_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/temp_dir.h"
#include "filesystem/cloud/testing/fake_cloud_store.h"
#include "filesystem/local_file_system.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kRepository = "s3://bucket/models";

class CloudFileSystemTest : public ::testing::Test {
 protected:
  CloudFileSystemTest() {
    store_.Put("m/config.pbtxt", "name: \"m\"");
    store_.Put("m/1/model.onnx", "one");
    store_.Put("m/1/deep/weights", "many");
    store_.Put("empty/1/", "");
    EXPECT_TRUE(files_.ListDirectory(kRepository).ok());  // makes it a repository
  }
  std::string ReadLocal(const std::string& path) { return *local_.ReadFile(path); }

  TempDir directory_;
  FakeCloudStore store_;
  FakeClock clock_;
  LocalFileSystem local_;
  CloudCache cache_{{directory_.path(), "", 1000}, &store_, &clock_};
  CloudFileSystem files_{&local_, &store_, &cache_};
};

TEST_F(CloudFileSystemTest, OneListTellsEverything) {
  EXPECT_THAT(*files_.ListDirectory(kRepository),
              ElementsAre(DirEntry{"empty", true}, DirEntry{"m", true}));
  EXPECT_THAT(*files_.ListDirectory(kRepository + "/m/"),
              ElementsAre(DirEntry{"1", true}, DirEntry{"config.pbtxt", false}));
  EXPECT_THAT(*files_.ListDirectory(kRepository + "/empty/1"), IsEmpty());
  EXPECT_TRUE(files_.Stat(kRepository + "/m/1")->is_directory);
  EXPECT_EQ(files_.Stat(kRepository + "/m/1/model.onnx")->size, 3u);
  EXPECT_EQ(files_.Stat(kRepository + "/none").status(),
            absl::NotFoundError("directory or file does not exist at s3://bucket/models/none"));
  EXPECT_EQ(files_.ListDirectory(kRepository + "/m/config.pbtxt").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(files_.ListDirectory(kRepository + "/none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.counts().lists, 1);
  EXPECT_EQ(store_.counts().stats, 0);
}

TEST_F(CloudFileSystemTest, ChangesAreSeenAfterARefresh) {
  const std::string path = kRepository + "/m/1/model.onnx";
  const FileStat before = *files_.Stat(path);
  store_.Put("m/1/model.onnx", "two");
  EXPECT_EQ(*files_.Stat(path), before);
  ASSERT_TRUE(files_.Refresh(kRepository + "/").ok());
  EXPECT_GT(files_.Stat(path)->mtime_ns, before.mtime_ns);
  store_.Remove("m/1/model.onnx");
  ASSERT_TRUE(files_.Refresh(kRepository).ok());
  EXPECT_EQ(files_.Stat(path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_.counts().lists, 3);
}

TEST_F(CloudFileSystemTest, WhenTheStoreIsDownTheOldViewHolds) {
  ASSERT_TRUE(files_.ListDirectory(kRepository).ok());
  store_.Fail(absl::UnavailableError("down"));
  EXPECT_EQ(files_.Refresh(kRepository),
            absl::UnavailableError("failed to list s3://bucket/models: down"));
  EXPECT_THAT(*files_.ListDirectory(kRepository), SizeIs(2));
  EXPECT_EQ(files_.ListDirectory("s3://").status(),
            absl::UnavailableError("failed to list s3://: down"));
}

TEST_F(CloudFileSystemTest, AModelIsCopiedWithItsFolders) {
  const auto folder = files_.Localize(kRepository + "/m");
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(ReadLocal((*folder)->path() + "/config.pbtxt"), "name: \"m\"");
  EXPECT_EQ(ReadLocal((*folder)->path() + "/1/deep/weights"), "many");
  const auto empty = files_.Localize(kRepository + "/empty");
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_TRUE(std::filesystem::is_directory((*empty)->path() + "/1"));
  EXPECT_EQ(store_.counts().fetches, 3);
}

TEST_F(CloudFileSystemTest, WhatWasFetchedBeforeIsNotAskedForAgain) {
  files_.Prefetch({kRepository + "/m", kRepository + "/none", directory_.path()});
  const FakeCloudStore::Counts before = store_.counts();
  EXPECT_EQ(before.fetches, 3);
  const auto folder = files_.Localize(kRepository + "/m");
  ASSERT_TRUE(folder.ok()) << folder.status();
  const FakeCloudStore::Counts after = store_.counts();
  EXPECT_EQ(after.stats, before.stats);
  EXPECT_EQ(after.fetches, before.fetches);
}

TEST_F(CloudFileSystemTest, AModelThatCouldNotBeCopiedLooksChanged) {
  const std::string model = kRepository + "/m";
  const FileStat before = *files_.Stat(model);
  store_.Cut(true);
  const auto folder = files_.Localize(model);
  EXPECT_EQ(folder.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(*files_.Stat(model) == before) << "the next poll tries again";
  store_.Cut(false);
  EXPECT_TRUE(files_.Localize(model).ok());
}

TEST_F(CloudFileSystemTest, AnObjectReplacedMeanwhileIsNotTaken) {
  files_.Prefetch({kRepository + "/empty"});
  ASSERT_TRUE(files_.ReadFile(kRepository + "/m/1/model.onnx").ok());
  store_.Put("m/1/model.onnx", "other");
  cache_.Ensure(kRepository, {}).IgnoreError();
  std::filesystem::remove_all(directory_.Path("objects"));
  std::filesystem::create_directory(directory_.Path("objects"));
  EXPECT_FALSE(files_.Localize(kRepository + "/m").ok()) << "its tag is that of the old content";
  const auto folder = files_.Localize(kRepository + "/m");
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(ReadLocal((*folder)->path() + "/1/model.onnx"), "other");
}

TEST_F(CloudFileSystemTest, NamesThatNoFileCanHaveAreLeftOut) {
  store_.Put("m/../../escape", "x");
  store_.Put("m//doubled", "x");
  store_.Put("/rooted", "x");
  store_.Put("m/1", "an object with the name of a folder");
  EXPECT_THAT(*files_.ListDirectory(kRepository), SizeIs(2));
  EXPECT_THAT(*files_.ListDirectory(kRepository + "/m"), SizeIs(2));
  EXPECT_TRUE(files_.Stat(kRepository + "/m/1")->is_directory);
  EXPECT_TRUE(files_.Localize(kRepository + "/m").ok());
}

TEST_F(CloudFileSystemTest, FilesOfThisMachineAreRead) {
  const std::string path = directory_.Write("file", "text");
  EXPECT_EQ(*files_.ReadFile(path), "text");
  EXPECT_EQ(files_.Stat(path)->size, 4u);
  EXPECT_TRUE(files_.ListDirectory(directory_.path()).ok());
  EXPECT_TRUE(files_.Refresh(directory_.path()).ok());
  EXPECT_EQ(*files_.Localize(directory_.path()), nullptr);
  EXPECT_EQ(store_.counts().lists, 1) << "that of the set-up";
}

}  // namespace
}  // namespace nereid
