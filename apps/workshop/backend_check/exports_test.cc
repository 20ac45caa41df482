// SPDX-License-Identifier: Apache-2.0
#include "backend_check/exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace nereid {
namespace {

using testing::HasSubstr;

std::vector<std::string> Ids(const std::vector<std::string>& exports) {
  TrialResult result;
  CheckExports(
      exports, [](const std::string& name) { return name == "TRITONBACKEND_RequestId"; }, &result);
  std::vector<std::string> ids;
  for (const Finding& finding : result.findings) ids.push_back(finding.id);
  return ids;
}

constexpr char kExecute[] = "TRITONBACKEND_ModelInstanceExecute";

TEST(CheckExports, FindsWhatNoServerCallsAndWhatTheServerHas) {
  EXPECT_TRUE(Ids({kExecute, "NEREID_BackendReadsPieces"}).empty());
  EXPECT_THAT(Ids({}), testing::ElementsAre("no-execute"));
  EXPECT_THAT(Ids({kExecute, "TRITONBACKEND_Initialise"}), testing::ElementsAre("unknown-export"));
  EXPECT_THAT(Ids({kExecute, "TRITONBACKEND_RequestId"}), testing::ElementsAre("server-export"));
  EXPECT_THAT(Ids({kExecute, "TRITONBACKEND_ModelBatchInitialize"}),
              testing::ElementsAre("partial-batcher"));
  EXPECT_THAT(Ids({kExecute, "_Z24TRITONBACKEND_InitializeP21TRITONBACKEND_Backend"}),
              testing::ElementsAre("mangled-export"));
}

TEST(CheckExports, NotesOtherSymbolsAndMissingCounterparts) {
  TrialResult result;
  CheckExports(
      {kExecute, "TRITONBACKEND_ModelInitialize", "helper", "_Z6helperv"},
      [](const std::string&) { return false; }, &result);
  EXPECT_TRUE(result.findings.empty());
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_THAT(result.notes[0], HasSubstr("and not TRITONBACKEND_ModelFinalize"));
  EXPECT_THAT(result.notes[1], HasSubstr("exports 2 symbols of its own, for instance helper"));
}

class FileTest : public testing::Test {
 protected:
  ~FileTest() override { std::filesystem::remove(path_); }
  absl::Status Read(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ReadExports(path_).status();
  }
  const std::string path_ = testing::TempDir() + "exports_test.so";
};

TEST_F(FileTest, OtherFilesAreRefused) {
  EXPECT_EQ(Read("").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Read("short").message(), HasSubstr("is not a shared object"));
  EXPECT_THAT(Read(std::string(500, 'x')).message(), HasSubstr("is not a shared object"));
  EXPECT_EQ(ReadExports(path_ + "x").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FileTest, SectionsBehindTheEndAreLeftOut) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(4096, '\0');
  self.read(bytes.data(), 4096);
  bytes[16] = 3;  // e_type: a shared object
  EXPECT_TRUE(Read(bytes).ok());
  bytes[4] = 1;  // EI_CLASS: 32 bits
  EXPECT_THAT(Read(bytes).message(), HasSubstr("is not a shared object of 64 bits"));
}

TEST(ReadExports, ListsTheServersLibrary) {
  // This test links it; the dynamic linker says where it lies.
  std::ifstream maps("/proc/self/maps");
  std::string line, library;
  while (std::getline(maps, line)) {
    if (line.find("/libtritonserver.so") != std::string::npos)
      library = line.substr(line.find('/'));
  }
  const auto exports = ReadExports(library);
  ASSERT_TRUE(exports.ok()) << exports.status();
  EXPECT_THAT(*exports, testing::Contains("TRITONBACKEND_RequestRelease"));
}

}  // namespace
}  // namespace nereid
