// SPDX-License-Identifier: Apache-2.0
#include "workshop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "filesystem/temp_directory.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

class WorkshopTest : public ::testing::Test {
 protected:
  WorkshopTest() : folder_(*TempDirectory::Make()), prefix_(folder_->path()) {}

  // A script in the place of the workshop's program.
  fs::path Script(const std::string& text) const {
    const fs::path file = prefix_ / "script";
    std::ofstream(file) << "#!/bin/sh\n" << text;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  const std::unique_ptr<TempDirectory> folder_;
  const fs::path prefix_;
};

TEST_F(WorkshopTest, LiesBesideThePlugInsInBothLayouts) {
  const fs::path nereid = prefix_ / "bin" / "nereid";
  EXPECT_EQ(WorkshopProgram(nereid), prefix_ / "libexec" / "nereid-workshop");
  fs::create_directories(prefix_ / "lib" / "nereid");
  EXPECT_EQ(WorkshopProgram(nereid), prefix_ / "lib" / "nereid" / "libexec" / "nereid-workshop");
}

TEST_F(WorkshopTest, WhatIsMissingIsNamedWithWhatHasIt) {
  const fs::path missing = prefix_ / "libexec" / "nereid-workshop";
  std::ostringstream err;
  EXPECT_EQ(BecomeWorkshop(missing, "/usr/bin/nereid", {"bench", "--json"}, err), 2);
  EXPECT_EQ(err.str(),
            "nereid bench: cannot start the program " + missing.string() +
                ", which does this: No such file or directory; the package nereid contains it, "
                "and `make stage` builds it\n");
}

TEST_F(WorkshopTest, TakesTheProcessWithItsWordsAndItsStatus) {
  const fs::path script = Script("[ \"$1,$2,$3\" = 'bench,a b,' ] && [ $# = 3 ] && exit 7\n");
  EXPECT_EXIT(BecomeWorkshop(script, "/usr/bin/nereid", {"bench", "a b", ""}, std::cerr),
              ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace nereid
