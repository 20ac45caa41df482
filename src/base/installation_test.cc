// SPDX-License-Identifier: Apache-2.0
#include "base/installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <system_error>

namespace nereid {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public testing::Test {
 protected:
  InstallationTest() {
    std::string pattern = (fs::temp_directory_path() / "nereid_installation_XXXXXX").string();
    prefix_ = ::mkdtemp(pattern.data());
  }
  ~InstallationTest() override {
    std::error_code ignored;
    fs::remove_all(prefix_, ignored);
  }

  fs::path prefix_;
};

TEST_F(InstallationTest, ARelocatableFolderHoldsThemBesideTheProgram) {
  EXPECT_EQ(InstalledFolder(prefix_ / "bin" / "nereid", "backends"), prefix_ / "backends");
  EXPECT_EQ(InstalledFolder(prefix_ / "lib" / "libtritonserver.so", "caches"), prefix_ / "caches");
}

TEST_F(InstallationTest, PackagesPutThemBelowTheLibrary) {
  fs::create_directories(prefix_ / "lib" / "nereid");
  const fs::path packaged = prefix_ / "lib" / "nereid";
  EXPECT_EQ(InstalledFolder(prefix_ / "bin" / "nereid", "backends"), packaged / "backends");
  EXPECT_EQ(InstalledFolder(prefix_ / "lib" / "libtritonserver.so", "repoagents"),
            packaged / "repoagents");
}

TEST_F(InstallationTest, OwnLibraryIsTheFileThatHoldsTheFunction) {
  EXPECT_EQ(OwnLibrary(), fs::read_symlink("/proc/self/exe"));
}

}  // namespace
}  // namespace nereid
