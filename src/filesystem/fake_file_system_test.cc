// SPDX-License-Identifier: Apache-2.0
#include "filesystem/fake_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FakeFileSystemTest, FilesBringTheirDirectories) {
  FakeFileSystem fs;
  fs.WriteFile("/models/m/1/model.onnx", "weights");
  fs.WriteFile("/models/m/config.pbtxt", "");
  fs.MakeDirectory("/models/m-2/");
  EXPECT_EQ(fs.ReadFile("/models/m/1/model.onnx").value(), "weights");
  EXPECT_THAT(fs.ListDirectory("/models").value(),
              ElementsAre(DirEntry{"m", true}, DirEntry{"m-2", true}));
  EXPECT_THAT(fs.ListDirectory("/models/m/").value(),
              ElementsAre(DirEntry{"1", true}, DirEntry{"config.pbtxt", false}));
  EXPECT_THAT(fs.ListDirectory("/models/m-2").value(), IsEmpty());
  EXPECT_EQ(fs.Stat("/models/m/1/model.onnx").value().size, 7u);
}

TEST(FakeFileSystemTest, ErrorsAreThoseOfTheLocalFileSystem) {
  FakeFileSystem fs;
  fs.WriteFile("/d/f", "");
  EXPECT_EQ(
      fs.ReadFile("/no").status(),
      absl::NotFoundError("failed to open text file for read /no: No such file or directory"));
  EXPECT_TRUE(absl::IsInvalidArgument(fs.ReadFile("/d").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(fs.ListDirectory("/d/f").status()));
  EXPECT_TRUE(absl::IsNotFound(fs.Stat("/d/g").status()));
}

TEST(FakeFileSystemTest, ChangesMoveTheTimeOn) {
  FakeFileSystem fs;
  fs.WriteFile("/d/f", "1");
  const FileStat before = fs.Stat("/d/f").value();
  fs.WriteFile("/d/g", "1");
  EXPECT_EQ(fs.Stat("/d/f").value(), before);
  fs.WriteFile("/d/f", "2");
  EXPECT_GT(fs.Stat("/d/f").value().mtime_ns, before.mtime_ns);
}

TEST(FakeFileSystemTest, RemovesTrees) {
  FakeFileSystem fs;
  fs.WriteFile("/d/a/f", "");
  fs.WriteFile("/d/ab", "");
  fs.Remove("/d/a");
  EXPECT_FALSE(fs.Exists("/d/a").value());
  EXPECT_FALSE(fs.Exists("/d/a/f").value());
  EXPECT_TRUE(fs.Exists("/d/ab").value());
}

TEST(FakeFileSystemTest, FailsWhereTold) {
  FakeFileSystem fs;
  fs.WriteFile("/d/f", "");
  fs.Fail("/d/f", absl::InternalError("disk"));
  EXPECT_EQ(fs.ReadFile("/d/f").status(), absl::InternalError("disk"));
  EXPECT_EQ(fs.Exists("/d/f").status(), absl::InternalError("disk"));
}

}  // namespace
}  // namespace nereid
