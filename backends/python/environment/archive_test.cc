// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "backends/python/environment/testing/files.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using testing::ArchivedFile;
using testing::ArchiveKind;
using ::testing::HasSubstr;
using testing::ReadText;
using testing::TempFolder;

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() { fs::create_directory(into_); }
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  std::string UnpackAll(const std::vector<ArchivedFile>& files,
                        ArchiveKind kind = ArchiveKind::kTar) {
    testing::WriteArchive(archive_, kind, files);
    return UnpackFile();
  }
  std::string UnpackFile() {
    const Error error = Unpack(archive_, into_, [&](int64_t bytes) { bytes_ = bytes; });
    return error.ok() ? "" : error.message();
  }
  static std::string LeadsOut(const std::string& path) {
    return "holds '" + path + "', which leads out of the folder that it is unpacked into";
  }

  TempFolder folder_;
  const std::string archive_ = folder_.Path("archive");
  const std::string into_ = folder_.Path("into");
  int64_t bytes_ = 0;
};

TEST_F(ArchiveTest, UnpacksEachKind) {
  for (const ArchiveKind kind : {ArchiveKind::kTar, ArchiveKind::kTarGz, ArchiveKind::kZip}) {
    fs::remove_all(into_);
    fs::create_directory(into_);
    bytes_ = 0;
    EXPECT_EQ(UnpackAll({{"./bin/tool", "run", 04755}, {"lib/deep/file", "text"}}, kind), "");
    EXPECT_EQ(ReadText(into_ + "/lib/deep/file"), "text");
    struct stat status {};
    ASSERT_EQ(stat((into_ + "/bin/tool").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0755u) << "without the right to be another user";
    EXPECT_GT(bytes_, 0);
  }
}

TEST_F(ArchiveTest, LinksInsideStay) {
  EXPECT_EQ(UnpackAll({{"lib/a.so.1", "code"},
                       {"lib/a.so", "", 0777, "a.so.1"},
                       {"bin/a.so", "", 0777, "../lib/a.so.1"},
                       {"lib64", "", 0777, "lib"},
                       {"lib/b.so", "", 0644, "", "lib/a.so.1"}}),
            "");
  for (const char* name : {"lib/a.so", "bin/a.so", "lib64/a.so", "lib/b.so"}) {
    EXPECT_EQ(ReadText(into_ + "/" + name), "code") << name;
  }
}

TEST_F(ArchiveTest, TheInterpreterOfAVirtualEnvironmentMayLieElsewhere) {
  EXPECT_EQ(UnpackAll({{"bin/python3", "", 0777, "/usr/bin/python3.11"}}), "");
  EXPECT_EQ(fs::read_symlink(into_ + "/bin/python3"), "/usr/bin/python3.11");
}

TEST_F(ArchiveTest, NothingLeadsOut) {
  const std::string outside = folder_.Write("outside/file", "as it was");
  EXPECT_THAT(UnpackAll({{outside, "evil"}}), HasSubstr(LeadsOut(outside)));
  EXPECT_THAT(UnpackAll({{"../outside/file", "evil"}}), HasSubstr(LeadsOut("../outside/file")));
  EXPECT_THAT(UnpackAll({{"a/../../outside/file", "evil"}}), HasSubstr("leads out"));
  EXPECT_THAT(UnpackAll({{"a", "", 0777, folder_.Path("outside")}, {"a/file", "evil"}}),
              HasSubstr(LeadsOut("a")));
  EXPECT_THAT(UnpackAll({{"a/b", "", 0777, "../../outside"}}), HasSubstr(LeadsOut("a/b")));
  EXPECT_THAT(UnpackAll({{"a", "", 0644, "", "../outside/file"}, {"a", "evil"}}),
              HasSubstr(LeadsOut("a")));
  EXPECT_THAT(UnpackAll({{"a", "", 0644, "", outside}}), HasSubstr(LeadsOut("a")));
  EXPECT_EQ(ReadText(outside), "as it was");
}

TEST_F(ArchiveTest, NothingIsWrittenThroughALink) {
  const std::string outside = folder_.Write("outside/file", "as it was");
  // Each link alone is harmless, or is allowed to lead out.
  EXPECT_NE(
      UnpackAll({{"bin/python", "", 0777, folder_.Path("outside")}, {"bin/python/file", "evil"}}),
      "");
  EXPECT_NE(UnpackAll({{"lib/x", "a"}, {"lib64", "", 0777, "lib"}, {"lib64/y", "b"}}), "");
  EXPECT_EQ(ReadText(outside), "as it was");
}

TEST_F(ArchiveTest, ABrokenOneIsSaidToBe) {
  testing::WriteArchive(archive_, ArchiveKind::kTarGz, {{"a", std::string(100'000, 'x')}});
  std::string content = ReadText(archive_);
  std::ofstream(archive_, std::ios::binary) << content.substr(0, content.size() / 2);
  EXPECT_THAT(UnpackFile(), HasSubstr("'" + archive_ + "' can not be unpacked: "));
  std::ofstream(archive_, std::ios::binary) << "this is no archive, but a text of some length\n";
  EXPECT_THAT(UnpackFile(), HasSubstr("it has to be a tar or zip file"));
  fs::remove(archive_);
  EXPECT_THAT(UnpackFile(), HasSubstr("can not be unpacked: "));
}

}  // namespace
}  // namespace nereid_backend
