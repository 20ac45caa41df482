// SPDX-License-Identifier: Apache-2.0
#include "base/watched_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/temp_dir.h"

namespace nereid {
namespace {

class WatchedFilesTest : public ::testing::Test {
 protected:
  WatchedFilesTest() { folder_.Write("a", "1"); }

  bool ChangedLater(WatchedFiles* files) {
    clock_.Advance(WatchedFiles::kLookEvery);
    return files->Changed();
  }

  TempDir folder_;
  FakeClock clock_;
};

TEST_F(WatchedFilesTest, AChangeIsToldOnce) {
  WatchedFiles files({folder_.Path("a"), ""}, &clock_);
  EXPECT_FALSE(ChangedLater(&files));
  folder_.Write("a", "22");
  EXPECT_FALSE(files.Changed()) << "looked a moment ago";
  EXPECT_TRUE(ChangedLater(&files));
  EXPECT_FALSE(ChangedLater(&files));
}

TEST_F(WatchedFilesTest, FilesThatComeAndGo) {
  WatchedFiles files({folder_.Path("a"), folder_.Path("b")}, &clock_);
  folder_.Write("b", "1");
  EXPECT_TRUE(ChangedLater(&files));
  std::filesystem::remove(folder_.Path("a"));
  EXPECT_TRUE(ChangedLater(&files));
  EXPECT_FALSE(ChangedLater(&files));
}

TEST_F(WatchedFilesTest, ALinkThatPointsElsewhere) {
  folder_.Write("b", "1");
  std::filesystem::create_symlink(folder_.Path("a"), folder_.Path("link"));
  WatchedFiles files({folder_.Path("link")}, &clock_);
  std::filesystem::remove(folder_.Path("link"));
  std::filesystem::create_symlink(folder_.Path("b"), folder_.Path("link"));
  EXPECT_TRUE(ChangedLater(&files));
}

}  // namespace
}  // namespace nereid
