// SPDX-License-Identifier: Apache-2.0
#include "repository/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

ModelId Id(const std::string& name, const std::string& space = "") { return {space, name}; }

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() {
    fs_.WriteFile("/r/m/config.pbtxt", "text");
    fs_.WriteFile("/r/m/1/model.onnx", "one");
    fs_.WriteFile("/r/m/2/model.onnx", "two");
    fs_.WriteFile("/r/n/1/model.onnx", "n");
    fs_.WriteFile("/r/README", "no model");
    fs_.MakeDirectory("/r/.git");
    fs_.MakeDirectory("/r/lost+found");
    layout_.repositories = {"/r"};
  }

  RepositorySnapshot Scan() { return *ScanRepositories(fs_, layout_); }

  FakeFileSystem fs_;
  RepositoryLayout layout_;
};

TEST_F(SnapshotTest, SeesTheFilesOfEveryModel) {
  fs_.WriteFile("/r/m/1/__pycache__/x.pyc", "written by a backend");
  const RepositorySnapshot snapshot = Scan();
  EXPECT_THAT(snapshot.models, ElementsAre(Key(Id("m")), Key(Id("n"))));
  const ModelFiles& files = snapshot.models.at(Id("m"));
  EXPECT_EQ(files.directory, "/r/m");
  EXPECT_THAT(files.files, ElementsAre(Key(""), Key("1"), Key("1/model.onnx"), Key("2"),
                                       Key("2/model.onnx"), Key("config.pbtxt")));
}

TEST_F(SnapshotTest, TellsWhatHasChanged) {
  const RepositorySnapshot before = Scan();
  EXPECT_THAT(ChangedModels(before, Scan()), IsEmpty());
  fs_.WriteFile("/r/m/1/model.onnx", "ONE");
  EXPECT_THAT(ChangedModels(before, Scan()), ElementsAre(Id("m"))) << "the same size, another time";
  fs_.Remove("/r/n");
  fs_.MakeDirectory("/r/new");
  EXPECT_THAT(ChangedModels(before, Scan()), ElementsAre(Id("m"), Id("n"), Id("new")));
}

TEST_F(SnapshotTest, AModelThatIsBeingWrittenStaysAsItIsKnown) {
  const RepositorySnapshot known = Scan();
  fs_.WriteFile("/r/m/1/model.onnx", "half a");
  fs_.WriteFile("/r/n/1/model.onnx", "whole");
  fs_.WriteFile("/r/new/1/model.onnx", "half a");
  const RepositorySnapshot earlier = Scan();
  fs_.WriteFile("/r/m/1/model.onnx", "half a model");
  fs_.WriteFile("/r/new/1/model.onnx", "half a model");
  RepositorySnapshot settled = Settle(known, earlier, Scan());
  EXPECT_THAT(ChangedModels(known, settled), ElementsAre(Id("n")));
  EXPECT_EQ(settled.models.count(Id("new")), 0u);
  settled = Settle(known, Scan(), Scan());
  EXPECT_THAT(ChangedModels(known, settled), ElementsAre(Id("m"), Id("n"), Id("new")));
}

TEST_F(SnapshotTest, ANameInTwoRepositoriesStandsForNeither) {
  fs_.WriteFile("/s/m/1/model.onnx", "other");
  layout_.repositories = {"/r", "/s"};
  EXPECT_THAT(Scan().models, ElementsAre(Key(Id("n"))));
  EXPECT_THAT(Scan().ambiguous, ElementsAre("m"));
  EXPECT_EQ(FindModelDirectories(fs_, layout_, "m").at(Id("m")).size(), 2u);
  layout_.namespacing = true;
  EXPECT_THAT(Scan().models,
              UnorderedElementsAre(Key(Id("m", "/r")), Key(Id("n", "/r")), Key(Id("m", "/s"))));
  EXPECT_THAT(FindModelDirectories(fs_, layout_, "m"),
              UnorderedElementsAre(Key(Id("m", "/r")), Key(Id("m", "/s"))));
}

TEST_F(SnapshotTest, ADirectoryMayHaveAnotherName) {
  layout_.names["/r"]["called"] = "m";
  EXPECT_THAT(Scan().models, ElementsAre(Key(Id("called")), Key(Id("n"))));
  EXPECT_EQ(FindModelDirectories(fs_, layout_, "called").at(Id("called")),
            std::vector<std::string>{"/r/m"});
  EXPECT_THAT(FindModelDirectories(fs_, layout_, "m"), IsEmpty());
}

TEST_F(SnapshotTest, ADirectoryMayHaveSeveralNames) {
  layout_.names["/r"] = {{"one", "m"}, {"two", "m"}, {"m", "m"}};
  EXPECT_THAT(Scan().models,
              UnorderedElementsAre(Key(Id("one")), Key(Id("two")), Key(Id("m")), Key(Id("n"))));
  for (const char* const name : {"one", "two", "m"}) {
    EXPECT_EQ(FindModelDirectories(fs_, layout_, name).at(Id(name)),
              std::vector<std::string>{"/r/m"});
    EXPECT_TRUE(IsRenamed(layout_, name, "/r/m"));
  }
}

TEST_F(SnapshotTest, AGivenNameComesBeforeThatOfADirectory) {
  layout_.names["/r"]["n"] = "m";  // where a directory "n" is, too
  EXPECT_THAT(Scan().models, ElementsAre(Key(Id("n"))));
  EXPECT_EQ(Scan().models.at(Id("n")).directory, "/r/m");
  EXPECT_EQ(FindModelDirectories(fs_, layout_, "n").at(Id("n")), std::vector<std::string>{"/r/m"});
  // Also before that of another repository's directory, unless names belong to repositories.
  fs_.WriteFile("/s/n/1/model.onnx", "other");
  layout_.repositories = {"/r", "/s"};
  EXPECT_THAT(Scan().models, ElementsAre(Key(Id("n"))));
  EXPECT_THAT(Scan().ambiguous, IsEmpty());
  EXPECT_EQ(FindModelDirectories(fs_, layout_, "n").at(Id("n")), std::vector<std::string>{"/r/m"});
  layout_.namespacing = true;
  EXPECT_THAT(Scan().models, UnorderedElementsAre(Key(Id("n", "/r")), Key(Id("n", "/s"))));
}

TEST_F(SnapshotTest, ARepositoryThatCannotBeReadIsNotEmpty) {
  fs_.Fail("/r", absl::InternalError("the disk is away"));
  EXPECT_EQ(ScanRepositories(fs_, layout_).status(), absl::InternalError("the disk is away"));
}

TEST_F(SnapshotTest, AVersionIsTheSameWhateverBecomesOfOthers) {
  const ModelFiles before = Scan().models.at(Id("m"));
  const auto now = [&] { return Scan().models.at(Id("m")); };
  fs_.WriteFile("/r/m/2/model.onnx", "TWO");
  fs_.WriteFile("/r/m/3/model.onnx", "three");
  fs_.WriteFile("/r/m/config.pbtxt", "another text");
  EXPECT_TRUE(SameVersionFiles(before, now(), 1));
  EXPECT_FALSE(SameVersionFiles(before, now(), 2));
  fs_.WriteFile("/r/m/labels.txt", "cat");
  EXPECT_FALSE(SameVersionFiles(before, now(), 1));
}

TEST_F(SnapshotTest, OfTooManyFilesTheOuterOnesAreKnown) {
  for (size_t i = 0; i <= kMostModelFiles; ++i) {
    fs_.WriteFile("/r/m/1/inner/" + std::to_string(i), "");
  }
  const RepositorySnapshot before = Scan();
  const ModelFiles& files = before.models.at(Id("m"));
  EXPECT_LE(files.files.size(), kMostModelFiles + 1);
  EXPECT_THAT(files.files, AllOf(Contains(Key("config.pbtxt")), Contains(Key("1/model.onnx")),
                                 Contains(Key("2/model.onnx"))));
  EXPECT_THAT(ChangedModels(before, Scan()), IsEmpty());
  fs_.WriteFile("/r/m/2/model.onnx", "TWO");
  EXPECT_THAT(ChangedModels(before, Scan()), ElementsAre(Id("m")));
}

}  // namespace
}  // namespace nereid
