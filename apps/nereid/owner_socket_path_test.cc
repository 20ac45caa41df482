// SPDX-License-Identifier: Apache-2.0
#include "owner_socket_path.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "filesystem/temp_directory.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::string InTemporary(const char* name) { return absl::StrCat("/tmp", "/", name); }

TEST(OwnerSocketFolders, OfAUser) {
  EXPECT_THAT(OwnerSocketFolders("/run/here", 1000),
              ElementsAre("/run/here/nereid", "/run/user/1000/nereid", InTemporary("nereid-1000")));
}

TEST(OwnerSocketFolders, OfRoot) {
  EXPECT_THAT(OwnerSocketFolders("", 0),
              ElementsAre("/run/user/0/nereid", "/run/nereid", InTemporary("nereid-0")));
}

TEST(OwnerSocketFolders, AFolderThatDependsOnWhereOneIsDoesNotCount) {
  EXPECT_THAT(OwnerSocketFolders("here", 1),
              ElementsAre("/run/user/1/nereid", InTemporary("nereid-1")));
}

TEST(OwnerSocketName, HasThePort) { EXPECT_EQ(OwnerSocketName(8000), "http-8000.sock"); }

TEST(CheckOwnerFolder, OnlyAFolderThatNobodyElseMayWriteTo) {
  const auto made = TempDirectory::Make().value();
  const fs::path folder = fs::path(made->path()) / "folder";
  EXPECT_EQ(CheckOwnerFolder(folder, geteuid()).code(), absl::StatusCode::kNotFound);
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  EXPECT_TRUE(CheckOwnerFolder(folder, geteuid()).ok());
  EXPECT_EQ(CheckOwnerFolder(folder, geteuid() + 1).code(), absl::StatusCode::kFailedPrecondition);
  fs::permissions(folder, fs::perms::owner_all | fs::perms::others_write);
  EXPECT_EQ(CheckOwnerFolder(folder, geteuid()).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CheckOwnerFolder, NotALinkToOne) {
  const auto made = TempDirectory::Make().value();
  const fs::path link = fs::path(made->path()) / "link";
  fs::create_symlink(made->path(), link);
  EXPECT_EQ(CheckOwnerFolder(link, geteuid()).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace nereid
