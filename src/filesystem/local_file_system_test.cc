// SPDX-License-Identifier: Apache-2.0
#include "filesystem/local_file_system.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LocalFileSystemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "nereid_fs_XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = JoinPath(root_, name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string root_;
  LocalFileSystem fs_;
};

TEST_F(LocalFileSystemTest, ReadsWholeFilesOfAnySize) {
  EXPECT_EQ(fs_.ReadFile(Write("empty", "")).value(), "");
  const std::string binary("a\0b\n", 4);
  EXPECT_EQ(fs_.ReadFile(Write("binary", binary)).value(), binary);
  const std::string large(300'000, 'x');
  EXPECT_EQ(fs_.ReadFile(Write("large", large)).value(), large);
}

TEST_F(LocalFileSystemTest, ReadsFilesThatReportNoSize) {
  EXPECT_THAT(fs_.ReadFile("/proc/self/status").value(), HasSubstr("Pid:"));
}

TEST_F(LocalFileSystemTest, MissingFileIsNotFoundAndNamesThePath) {
  const std::string path = JoinPath(root_, "m/config.pbtxt");
  const absl::Status status = fs_.ReadFile(path).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(status.message(),
            "failed to open text file for read " + path + ": No such file or directory");
}

TEST_F(LocalFileSystemTest, DirectoryForAFileIsInvalidAndTheReverse) {
  EXPECT_EQ(fs_.ReadFile(root_).status(),
            absl::InvalidArgumentError("failed to open text file for read " + root_ +
                                       ": Is a directory"));
  const std::string file = Write("f", "");
  EXPECT_EQ(fs_.ListDirectory(file).status(),
            absl::InvalidArgumentError("failed to open directory " + file + ": Not a directory"));
  EXPECT_TRUE(absl::IsInvalidArgument(fs_.Stat(JoinPath(file, "x")).status()));
}

TEST_F(LocalFileSystemTest, ListsSortedFollowsLinksAndSkipsDanglingOnes) {
  Write("b.txt", "");
  ::mkdir(JoinPath(root_, "a").c_str(), 0755);
  ::mkdir(JoinPath(root_, "10").c_str(), 0755);
  ASSERT_EQ(::symlink("a", JoinPath(root_, "link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", JoinPath(root_, "dangling").c_str()), 0);
  EXPECT_THAT(fs_.ListDirectory(root_).value(),
              ElementsAre(DirEntry{"10", true}, DirEntry{"a", true}, DirEntry{"b.txt", false},
                          DirEntry{"link", true}));
  EXPECT_TRUE(absl::IsNotFound(fs_.ListDirectory(JoinPath(root_, "no")).status()));
}

TEST_F(LocalFileSystemTest, StatGivesKindSizeAndTime) {
  const std::string path = Write("f", "12345");
  const timespec times[2] = {{5, 7}, {5, 7}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_EQ(fs_.Stat(path).value(), (FileStat{false, 5, 5'000'000'007}));
  const FileStat dir = fs_.Stat(root_).value();
  EXPECT_TRUE(dir.is_directory);
  EXPECT_EQ(dir.size, 0u);
}

TEST_F(LocalFileSystemTest, ExistsTellsMissingFromUnknown) {
  EXPECT_TRUE(fs_.Exists(root_).value());
  EXPECT_FALSE(fs_.Exists(JoinPath(root_, "no")).value());
  EXPECT_FALSE(fs_.Exists(JoinPath(Write("f", ""), "below")).ok());
}

TEST(JoinPathTest, PutsExactlyOneSlash) {
  EXPECT_EQ(JoinPath("/a", "b"), "/a/b");
  EXPECT_EQ(JoinPath("/a/", "b"), "/a/b");
  EXPECT_EQ(JoinPath("/a", "/b"), "/a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
}

}  // namespace
}  // namespace nereid
