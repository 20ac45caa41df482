// SPDX-License-Identifier: Apache-2.0
#include "repoagents/checksum/digest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace nereid_checksum {
namespace {

constexpr char kMd5[] = "900150983cd24fb0d6963f7d28e17f72";  // of "abc"
constexpr char kSha256[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class DigestTest : public ::testing::Test {
 protected:
  DigestTest() : dir_(::testing::TempDir() + "checksum_XXXXXX") {
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    std::filesystem::create_directory(dir_ + "/1");
    std::ofstream(dir_ + "/1/model") << "abc";
  }
  ~DigestTest() override { std::filesystem::remove_all(dir_); }

  std::string dir_;
};

TEST_F(DigestTest, SumsAreThoseOfTheStandards) {
  EXPECT_EQ(*SumOfFile("MD5", dir_ + "/1/model"), kMd5);
  EXPECT_EQ(*SumOfFile("SHA256", dir_ + "/1/model"), kSha256);
  EXPECT_EQ(SumOfFile("MD5", dir_ + "/1/nothing").error().code(), TRITONSERVER_ERROR_NOT_FOUND);
}

TEST_F(DigestTest, AModelPassesIfItsSumsAreRight) {
  const auto check = [&](const char* name, std::string sum) {
    auto expected = ReadParameter(name, sum);
    EXPECT_TRUE(expected.ok());
    return Check(dir_, *expected);
  };
  EXPECT_TRUE(check("MD5:1/model", kMd5).ok());
  EXPECT_TRUE(check("SHA256:1/model", kSha256).ok());
  EXPECT_TRUE(check("MD5:/1/model", kMd5).ok()) << "a slash in front means the directory";
  EXPECT_TRUE(check("MD5:1/model", "900150983CD24FB0D6963F7D28E17F72").ok());
  const nereid_backend::Error wrong = check("MD5:1/model", std::string(32, '0'));
  ASSERT_FALSE(wrong.ok());
  EXPECT_STREQ(wrong.message(), "Mismatched MD5 hash for file 1/model");
}

TEST_F(DigestTest, ParametersThatMakeNoSenseAreRefused) {
  for (const char* name :
       {"MD5", "CRC:1/model", "MD5:", "MD5:../model", "MD5:/", "MD5:/../model"}) {
    EXPECT_FALSE(ReadParameter(name, kMd5).ok()) << name;
  }
  EXPECT_FALSE(ReadParameter("SHA256:1/model", kMd5).ok());
}

}  // namespace
}  // namespace nereid_checksum
