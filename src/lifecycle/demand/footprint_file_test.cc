// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/demand/footprint_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace nereid {
namespace {

class FootprintFileTest : public testing::Test {
 protected:
  FootprintFileTest()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("footprints" + std::to_string(getpid()))) {
    std::filesystem::remove(path_);
  }
  ~FootprintFileTest() override { std::filesystem::remove(path_); }

  std::string Text() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& text) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }

  const std::filesystem::path path_;
};

TEST_F(FootprintFileTest, KeepsWhatItIsGiven) {
  const Footprints some = {{"a", {1, "s1"}}, {"b\n\tc", {UINT64_MAX, ""}}, {"d \\", {3, "x\ty"}}};
  for (const Footprints& footprints : {some, Footprints()}) {
    ASSERT_TRUE(WriteFootprints(path_, footprints).ok());
    const absl::StatusOr<Footprints> found = ReadFootprints(path_);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, footprints);
  }
}

TEST_F(FootprintFileTest, SaysWhetherThereIsNoFile) {
  EXPECT_EQ(ReadFootprints(path_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FootprintFileTest, NoticesEveryDamage) {
  ASSERT_TRUE(WriteFootprints(path_, {{"a", {1, "s"}}, {"b", {2, "t"}}}).ok());
  const std::string text = Text();
  for (size_t size = 0; size < text.size(); ++size) {
    Write(text.substr(0, size));
    EXPECT_EQ(ReadFootprints(path_).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    Write(changed);
    EXPECT_EQ(ReadFootprints(path_).status().code(), absl::StatusCode::kDataLoss) << at;
  }
}

TEST_F(FootprintFileTest, SaysWhatCannotBeWritten) {
  const absl::Status status = WriteFootprints("/no/such/folder/file", {});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/no/such/folder/file.new cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace nereid
