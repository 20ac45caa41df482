// SPDX-License-Identifier: Apache-2.0
#include "filesystem/temp_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/temp_dir.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

// Each test has its own folder for temporary files.
class TempDirectoryTest : public ::testing::Test {
 protected:
  TempDirectoryTest() { setenv("TMPDIR", dir_.path().c_str(), 1); }
  ~TempDirectoryTest() override { unsetenv("TMPDIR"); }

  size_t Count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()));
  }
  // Makes a directory as a killed process leaves it, and returns its path.
  std::string Leftover(const std::string& name) const {
    dir_.Write(name + "/lock", "");
    dir_.Write(name + "/files/1/model", "secret");
    return dir_.Path(name);
  }

  TempDir dir_;
};

TEST_F(TempDirectoryTest, GoesWithAllThatIsInIt) {
  {
    const auto made = TempDirectory::Make();
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_TRUE(fs::is_empty((*made)->path())) << "the lock is not among the files";
    fs::create_directories((*made)->path() + "/a/b");
    std::ofstream((*made)->path() + "/a/b/c") << "text";
    EXPECT_EQ(fs::status(fs::path((*made)->path()).parent_path()).permissions(),
              fs::perms::owner_all);
    EXPECT_EQ(Count(), 1u);
  }
  EXPECT_EQ(Count(), 0u);
}

TEST_F(TempDirectoryTest, GoesAlsoWhenItsFilesHaveGoneBefore) {
  {
    const auto made = TempDirectory::Make();
    ASSERT_TRUE(made.ok()) << made.status();
    fs::remove_all((*made)->path());
  }
  EXPECT_EQ(Count(), 0u);
}

TEST_F(TempDirectoryTest, NoDirectoryForItIsAnError) {
  setenv("TMPDIR", dir_.Path("nowhere").c_str(), 1);
  EXPECT_EQ(TempDirectory::Make().status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 0);
}

TEST_F(TempDirectoryTest, WhatAKilledProcessLeftIsRemoved) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto made = TempDirectory::Make();
    if (made.ok()) std::ofstream((*made)->path() + "/model") << "secret";
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(Count(), 1u);
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 1);
  EXPECT_EQ(Count(), 0u);
}

TEST_F(TempDirectoryTest, WhatSomebodyHoldsStays) {
  const auto model = TempDirectory::Make();
  const auto backend = TempDirectory::Make(TempDirectory::kBackendCopy);
  ASSERT_TRUE(model.ok() && backend.ok());
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 0);
  EXPECT_TRUE(fs::exists((*model)->path()));
  EXPECT_TRUE(fs::exists((*backend)->path()));
}

TEST_F(TempDirectoryTest, OneThatWasNotLockedYetIsRemovedOnlyIfEmpty) {
  fs::create_directory(dir_.Path("nereid_model_abcdef"));
  dir_.Write("nereid_model_ghijkl/files/model", "whose?");
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 1);
  EXPECT_TRUE(fs::exists(dir_.Path("nereid_model_ghijkl/files/model")));
}

TEST_F(TempDirectoryTest, OtherNamesStay) {
  for (const char* name : {"nereid_model_", "nereid_model_abcde", "nereid_model_abcdefg",
                           "nereid_model_abcd.f", "nereid_other_abcdef", "model_abcdef"}) {
    Leftover(name);
  }
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 0);
  EXPECT_EQ(Count(), 6u);
}

TEST_F(TempDirectoryTest, LinksAreNotFollowed) {
  const std::string precious = dir_.Write("precious/files/file", "kept");
  dir_.Write("precious/lock", "");
  // Links in place of the directory itself, of its lock, and of files in it.
  fs::create_symlink(dir_.Path("precious"), dir_.Path("nereid_model_aaaaaa"));
  fs::create_directories(dir_.Path("nereid_model_bbbbbb/files"));
  fs::create_symlink(dir_.Path("precious/lock"), dir_.Path("nereid_model_bbbbbb/lock"));
  Leftover("nereid_model_cccccc");
  fs::create_symlink(dir_.Path("precious"), dir_.Path("nereid_model_cccccc/files/link"));
  fs::create_symlink(dir_.Path("precious"), dir_.Path("nereid_model_cccccc/other"));
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 1);
  EXPECT_TRUE(fs::exists(precious));
  EXPECT_TRUE(fs::exists(dir_.Path("nereid_model_bbbbbb")));
  EXPECT_FALSE(fs::exists(dir_.Path("nereid_model_cccccc")));
}

TEST_F(TempDirectoryTest, APipeInThePlaceOfTheLockHoldsNobodyUp) {
  fs::create_directory(dir_.Path("nereid_model_aaaaaa"));
  ASSERT_EQ(mkfifo(dir_.Path("nereid_model_aaaaaa/lock").c_str(), 0600), 0);
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 0);
}

TEST_F(TempDirectoryTest, DirectoriesOfOtherUsersStay) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const std::string theirs = Leftover("nereid_model_aaaaaa");
  ASSERT_EQ(chown(theirs.c_str(), 12345, 12345), 0);
  const std::string their_lock = Leftover("nereid_model_bbbbbb");
  ASSERT_EQ(chown((their_lock + "/lock").c_str(), 12345, 12345), 0);
  EXPECT_EQ(TempDirectory::RemoveLeftovers(), 0);
  EXPECT_EQ(Count(), 2u);
}

}  // namespace
}  // namespace nereid
