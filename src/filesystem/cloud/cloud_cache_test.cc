// SPDX-License-Identifier: Apache-2.0
#include "filesystem/cloud/cloud_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "base/testing/temp_dir.h"
#include "filesystem/cloud/testing/fake_cloud_store.h"

namespace nereid {
namespace {

constexpr char kRepository[] = "s3://bucket/models";

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class CloudCacheTest : public ::testing::Test {
 protected:
  std::unique_ptr<CloudCache> Make(uint64_t most_bytes) {
    return std::make_unique<CloudCache>(CloudCache::Options{directory_.path(), "", most_bytes},
                                        &store_, &clock_);
  }
  CloudObject Put(const std::string& path, const std::string& content) {
    store_.Put(path, content);
    return *store_.Stat(kRepository, path);
  }
  // Links the object into a new folder and removes that: what remains is in the cache alone.
  absl::Status Use(CloudCache* cache, const CloudObject& object) {
    clock_.Advance(std::chrono::seconds(1));
    const auto folder = cache->MakeFolder();
    return cache->Link(kRepository, object, (*folder)->path() + "/file");
  }
  size_t Kept() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.Path("objects"))) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  TempDir directory_;
  FakeCloudStore store_;
  FakeClock clock_;
};

TEST_F(CloudCacheTest, AContentIsFetchedOnceAndOutlivesTheCache) {
  const CloudObject object = Put("m/1/x", "content");
  {
    const auto cache = Make(1000);
    const auto folder = cache->MakeFolder();
    ASSERT_TRUE(folder.ok()) << folder.status();
    const std::string target = (*folder)->path() + "/x";
    ASSERT_TRUE(cache->Link(kRepository, object, target).ok());
    EXPECT_EQ(Content(target), "content");
    struct stat file;
    ASSERT_EQ(stat(target.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0444u) << "a model cannot change what others use";
  }
  const auto next = Make(1000);
  EXPECT_TRUE(next->Ensure(kRepository, {object}).ok());
  EXPECT_TRUE(Use(next.get(), object).ok());
  EXPECT_EQ(store_.counts().fetches, 1);
}

TEST_F(CloudCacheTest, AnotherTagOrSizeOrPlaceIsAnotherContent) {
  const auto cache = Make(1000);
  ASSERT_TRUE(Use(cache.get(), Put("x", "old")).ok());
  ASSERT_TRUE(Use(cache.get(), Put("x", "new")).ok());
  ASSERT_TRUE(Use(cache.get(), Put("y", "new")).ok());
  EXPECT_EQ(store_.counts().fetches, 3);
  EXPECT_EQ(Kept(), 3u);
}

TEST_F(CloudCacheTest, WhatWasNotUsedForTheLongestTimeMakesRoom) {
  const auto cache = Make(10);
  const CloudObject a = Put("a", "aaaa");
  const CloudObject b = Put("b", "bbbb");
  const CloudObject c = Put("c", "cccc");
  ASSERT_TRUE(Use(cache.get(), a).ok());
  ASSERT_TRUE(Use(cache.get(), b).ok());
  ASSERT_TRUE(Use(cache.get(), a).ok());
  ASSERT_TRUE(Use(cache.get(), c).ok());
  EXPECT_EQ(Kept(), 2u);
  ASSERT_TRUE(Use(cache.get(), a).ok());
  EXPECT_EQ(store_.counts().fetches, 3) << "a stayed";
  ASSERT_TRUE(Use(cache.get(), b).ok());
  EXPECT_EQ(store_.counts().fetches, 4) << "b had to go";
}

TEST_F(CloudCacheTest, WhatServesStays) {
  const auto cache = Make(10);
  const CloudObject a = Put("a", "aaaaaaaa");
  const auto folder = cache->MakeFolder();
  ASSERT_TRUE(cache->Link(kRepository, a, (*folder)->path() + "/a").ok());
  ASSERT_TRUE(Use(cache.get(), Put("b", "bbbbbbbb")).ok());
  ASSERT_TRUE(Use(cache.get(), a).ok());
  EXPECT_EQ(store_.counts().fetches, 2);
  EXPECT_EQ(Content((*folder)->path() + "/a"), "aaaaaaaa");
}

TEST_F(CloudCacheTest, WhatArrivesCutIsNotTaken) {
  const auto cache = Make(1000);
  const CloudObject object = Put("x", "content");
  store_.Cut(true);
  EXPECT_EQ(Use(cache.get(), object),
            absl::UnavailableError("'x' arrived with another size than the store told: 7 bytes"));
  EXPECT_EQ(Kept(), 0u);
  store_.Cut(false);
  EXPECT_TRUE(Use(cache.get(), object).ok());
}

TEST_F(CloudCacheTest, AFileOfAnotherSizeIsFetchedAgain) {
  const auto cache = Make(1000);
  const CloudObject object = Put("x", "content");
  ASSERT_TRUE(Use(cache.get(), object).ok());
  for (const auto& entry : std::filesystem::directory_iterator(directory_.Path("objects"))) {
    std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
    std::filesystem::resize_file(entry.path(), 3);
  }
  const auto folder = cache->MakeFolder();
  ASSERT_TRUE(cache->Link(kRepository, object, (*folder)->path() + "/x").ok());
  EXPECT_EQ(Content((*folder)->path() + "/x"), "content");
}

TEST_F(CloudCacheTest, WithoutADirectoryItLeavesNothing) {
  {
    CloudCache cache({"", directory_.path(), 1000}, &store_, &clock_);
    ASSERT_TRUE(Use(&cache, Put("x", "content")).ok());
    EXPECT_FALSE(std::filesystem::is_empty(directory_.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(CloudCacheTest, ADirectoryThatCannotBe) {
  CloudCache cache({directory_.Write("file", "") + "/below", "", 1000}, &store_, &clock_);
  const absl::Status status = cache.Ensure(kRepository, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("failed to make the directory"));
}

TEST(InParallelTest, TheFirstErrorIsTheResult) {
  std::atomic<int> calls{0};
  EXPECT_TRUE(InParallel(100, [&](size_t) {
                ++calls;
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(calls, 100);
  EXPECT_EQ(
      InParallel(3, [](size_t i) { return i == 0 ? absl::InternalError("no") : absl::OkStatus(); }),
      absl::InternalError("no"));
  EXPECT_TRUE(InParallel(0, [](size_t) { return absl::InternalError("never called"); }).ok());
}

}  // namespace
}  // namespace nereid
