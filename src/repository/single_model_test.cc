// SPDX-License-Identifier: Apache-2.0
#include "repository/single_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class SingleModelTest : public ::testing::Test {
 protected:
  std::map<std::string, std::string> Find(const std::string& repository,
                                          const std::string& name = "") {
    RepositoryLayout layout;
    layout.repositories = {repository};
    FindSingleModels(fs_, name, &layout);
    return layout.single_models;
  }

  FakeFileSystem fs_;
};

TEST_F(SingleModelTest, VersionsOrAConfigurationMakeAModel) {
  fs_.WriteFile("/versions/1/model.onnx", "");
  fs_.WriteFile("/config/config.pbtxt", "");
  fs_.WriteFile("/both/config.pbtxt", "");
  fs_.WriteFile("/both/configs/small.pbtxt", "");
  fs_.WriteFile("/both/12/model.savedmodel/variables/data", "");
  fs_.WriteFile("/both/labels.txt", "");
  for (const char* folder : {"/versions", "/config", "/both"}) {
    EXPECT_TRUE(IsSingleModel(fs_, folder)) << folder;
  }
}

TEST_F(SingleModelTest, FoldersOfModelsMakeARepository) {
  fs_.MakeDirectory("/empty");
  fs_.WriteFile("/usual/m/1/model.onnx", "");
  fs_.WriteFile("/files/README", "");
  fs_.WriteFile("/flat/model.onnx", "");
  // Models called like numbers.
  fs_.WriteFile("/numbers/1/config.pbtxt", "");
  fs_.WriteFile("/numbers/2/1/model.onnx", "");
  // A configuration that somebody left there.
  fs_.WriteFile("/stray/config.pbtxt", "");
  fs_.WriteFile("/stray/m/1/model.onnx", "");
  // A folder of that name is no configuration.
  fs_.WriteFile("/folder/config.pbtxt/readme", "");
  for (const char* folder :
       {"/empty", "/usual", "/files", "/flat", "/numbers", "/stray", "/folder", "/nowhere"}) {
    EXPECT_FALSE(IsSingleModel(fs_, folder)) << folder;
    EXPECT_THAT(Find(folder), IsEmpty()) << folder;
  }
}

TEST_F(SingleModelTest, TheNameIsTheGivenOneOrThatOfTheConfigurationOrTheFolder) {
  fs_.WriteFile("/mnt/models/1/model.onnx", "");
  EXPECT_THAT(Find("/mnt/models"), ElementsAre(Pair("/mnt/models", "models")));
  EXPECT_THAT(Find("/mnt/models/"), ElementsAre(Pair("/mnt/models/", "models")));
  fs_.WriteFile("/mnt/models/config.pbtxt", "name: 'digits'");
  EXPECT_THAT(Find("/mnt/models"), ElementsAre(Pair("/mnt/models", "digits")));
  EXPECT_THAT(Find("/mnt/models", "given"), ElementsAre(Pair("/mnt/models", "given")));
  fs_.WriteFile("/mnt/models/config.pbtxt", "no syntax {");
  EXPECT_THAT(Find("/mnt/models"), ElementsAre(Pair("/mnt/models", "models")));
}

TEST_F(SingleModelTest, AFolderWithoutANameHasOne) {
  fs_.WriteFile("/mnt/./1/model.onnx", "");
  EXPECT_THAT(Find("/mnt/."), ElementsAre(Pair("/mnt/.", "model")));
}

TEST_F(SingleModelTest, ItIsListedAndFound) {
  fs_.WriteFile("/mnt/models/1/model.onnx", "");
  fs_.WriteFile("/mnt/models/extra/file", "");
  fs_.WriteFile("/others/m/1/model.onnx", "");
  RepositoryLayout layout;
  layout.repositories = {"/mnt/models", "/others"};
  FindSingleModels(fs_, "digits", &layout);
  const ModelId digits{"", "digits"};
  const auto listed = ListModelDirectories(fs_, layout);
  ASSERT_TRUE(listed.ok());
  EXPECT_THAT(*listed, ElementsAre(Pair(digits, ElementsAre("/mnt/models")),
                                   Pair(ModelId{"", "m"}, ElementsAre("/others/m"))));
  EXPECT_THAT(FindModelDirectories(fs_, layout, "digits"),
              ElementsAre(Pair(digits, ElementsAre("/mnt/models"))));
  for (const char* other : {"models", "1", "extra"}) {
    EXPECT_THAT(FindModelDirectories(fs_, layout, other), IsEmpty()) << other;
  }
  fs_.Remove("/mnt/models");
  EXPECT_THAT(FindModelDirectories(fs_, layout, "digits"), IsEmpty());
}

}  // namespace
}  // namespace nereid
