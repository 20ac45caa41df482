// SPDX-License-Identifier: Apache-2.0
// TempDir: a new directory for one test, removed with all that is in it. Thread-compatible.
#ifndef NEREID_BASE_TESTING_TEMP_DIR_H_
#define NEREID_BASE_TESTING_TEMP_DIR_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nereid {

class TempDir {
 public:
  TempDir() : path_(::testing::TempDir() + "nereid_test_XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // Creates or replaces a file and the directories above it; returns its path.
  std::string Write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  std::string Copy(const std::string& from, const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::filesystem::copy_file(from, Path(name), std::filesystem::copy_options::overwrite_existing);
    return Path(name);
  }

 private:
  std::string path_;
};

}  // namespace nereid

#endif  // NEREID_BASE_TESTING_TEMP_DIR_H_
