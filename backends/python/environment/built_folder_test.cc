// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/built_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "backends/python/environment/testing/files.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::ReadText;
using testing::TempFolder;

class BuiltFolderTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  FolderRequest Request() {
    FolderRequest request;
    request.cache = folder_.Path("some/cache");
    request.key = "key";
    request.what = "what the test makes";
    request.make = [this](const std::string& folder) {
      ++made_;
      return WriteFile(folder, "content");
    };
    return request;
  }
  static Error WriteFile(const std::string& folder, const std::string& content) {
    EXPECT_TRUE(fs::is_empty(folder));
    FILE* const file = fopen((folder + "/file").c_str(), "w");
    fputs(content.c_str(), file);
    fclose(file);
    return Error();
  }

  TempFolder folder_;
  std::atomic<int> made_{0};
};

TEST_F(BuiltFolderTest, ManyGetWhatOneHasMade) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const Result<std::string> folder = GetBuiltFolder(Request());
      ASSERT_TRUE(folder.ok());
      EXPECT_EQ(ReadText(*folder + "/file"), "content");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made_, 1);
  struct stat status {};
  ASSERT_EQ(stat(folder_.Path("some/cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(BuiltFolderTest, AFailureLeavesNothingAndIsTriedAgain) {
  FolderRequest request = Request();
  request.make = [&](const std::string& folder) {
    EXPECT_TRUE(WriteFile(folder, "half").ok());
    return Error::Internal("no luck");
  };
  Result<std::string> failed = GetBuiltFolder(request);
  ASSERT_FALSE(failed.ok());
  EXPECT_STREQ(failed.error().message(), "no luck");
  EXPECT_FALSE(fs::exists(folder_.Path("some/cache/key")));
  ASSERT_TRUE(GetBuiltFolder(Request()).ok());
  EXPECT_EQ(made_, 1);
}

TEST_F(BuiltFolderTest, WhatAKilledProcessLeftIsMadeAnew) {
  const pid_t process = fork();
  if (process == 0) {
    FolderRequest request = Request();
    request.make = [](const std::string& folder) {
      (void)WriteFile(folder, "half");
      kill(getpid(), SIGKILL);
      return Error();
    };
    (void)GetBuiltFolder(request);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(ReadText(folder_.Path("some/cache/key/file")), "half");
  const Result<std::string> folder = GetBuiltFolder(Request());
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(ReadText(*folder + "/file"), "content");
}

TEST_F(BuiltFolderTest, ACacheThatOthersMayWriteToIsRefused) {
  fs::create_directories(folder_.Path("some/cache"));
  fs::permissions(folder_.Path("some/cache"), fs::perms::all);
  Result<std::string> folder = GetBuiltFolder(Request());
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message(), HasSubstr("that others can not write to"));
  EXPECT_EQ(made_, 0);
}

TEST_F(BuiltFolderTest, ACacheThatCannotBeMadeIsNamed) {
  FolderRequest request = Request();
  request.cache = folder_.Write("file", "") + "/cache";
  Result<std::string> folder = GetBuiltFolder(request);
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message(), HasSubstr(request.cache));
}

TEST(KeyOfTextsTest, DiffersWhereTextsDo) {
  EXPECT_EQ(KeyOfTexts({"a", "b"}), KeyOfTexts({"a", "b"}));
  EXPECT_NE(KeyOfTexts({"a", "b"}), KeyOfTexts({"ab"}));
  EXPECT_NE(KeyOfTexts({"a", "b"}), KeyOfTexts({"b", "a"}));
  EXPECT_NE(KeyOfTexts({"1:a"}), KeyOfTexts({"", "a"}));
  EXPECT_EQ(KeyOfTexts({}).size(), 32u);
}

}  // namespace
}  // namespace nereid_backend
