// SPDX-License-Identifier: Apache-2.0
#include "what_to_serve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "filesystem/local_file_system.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WhatToServeTest : public ::testing::Test {
 protected:
  WhatToServeTest() : folder_(*TempDirectory::Make()) {}

  std::string Path(const std::string& name) const { return folder_->path() + "/" + name; }
  // Makes a file, with the folders above it.
  std::string Add(const std::string& name) const {
    const std::filesystem::path path = Path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "content";
    return path.string();
  }
  std::string Error(const std::string& name, bool loads_all = true) {
    return std::string(serve_.RepositoryOf(Path(name), loads_all).status().message());
  }

  const LocalFileSystem files_;
  const std::unique_ptr<TempDirectory> folder_;
  WhatToServe serve_{&files_};
};

std::string TextOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_F(WhatToServeTest, AFileBecomesTheOnlyModelOfARepository) {
  Add("nets/weights.bin");
  const auto repository = serve_.RepositoryOf(Add("nets/res net.onnx"), true);
  ASSERT_TRUE(repository.ok()) << repository.status();
  const std::string model = *repository + "/res net";
  EXPECT_EQ(TextOf(model + "/config.pbtxt"),
            "backend: \"onnxruntime\"\ndefault_model_filename: \"res net.onnx\"\n");
  EXPECT_EQ(TextOf(model + "/1/res net.onnx"), "content");
  EXPECT_EQ(TextOf(model + "/1/weights.bin"), "content");
  EXPECT_THAT(serve_.sentences(),
              ElementsAre("serving '" + Path("nets/res net.onnx") +
                          "' as the model 'res net' with the backend 'onnxruntime'"));
  serve_.Clear();
  EXPECT_FALSE(std::filesystem::exists(*repository));
}

TEST_F(WhatToServeTest, SomeKindsNeedAPlatform) {
  const auto aoti = serve_.RepositoryOf(Add("m.pt2"), true);
  ASSERT_TRUE(aoti.ok()) << aoti.status();
  EXPECT_EQ(TextOf(*aoti + "/m/config.pbtxt"),
            "backend: \"pytorch\"\nplatform: \"torch_aoti\"\ndefault_model_filename: \"m.pt2\"\n");
  Add("s.savedmodel/saved_model.pb");
  const auto saved = serve_.RepositoryOf(Path("s.savedmodel/"), true);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_THAT(TextOf(*saved + "/s/config.pbtxt"),
              HasSubstr("default_model_filename: \"s.savedmodel\""));
  EXPECT_EQ(TextOf(*saved + "/s/1/s.savedmodel/saved_model.pb"), "content");
}

TEST_F(WhatToServeTest, FoldersAreRepositoriesOrModels) {
  Add("models/digits/1/model.onnx");
  EXPECT_EQ(*serve_.RepositoryOf(Path("models"), true), Path("models"));
  EXPECT_EQ(*serve_.RepositoryOf(Path("models/digits"), true), Path("models/digits"));
  EXPECT_THAT(serve_.sentences(), ElementsAre());
}

TEST_F(WhatToServeTest, ARepositoryIsNoModel) {
  Add("models/b/1/model.onnx");
  Add("models/a/notes");
  EXPECT_EQ(FirstModelIn(files_, Path("models")), "b");
  EXPECT_EQ(FirstModelIn(files_, Path("models/b")), "");
  EXPECT_EQ(FirstModelIn(files_, Path("models/a")), "");
  Add("models/b/assets/config.pbtxt");
  EXPECT_EQ(FirstModelIn(files_, Path("models/b")), "");
}

TEST_F(WhatToServeTest, OtherThingsAreTold) {
  EXPECT_TRUE(absl::IsNotFound(serve_.RepositoryOf(Path("none"), true).status()));
  EXPECT_THAT(Error("none"), HasSubstr("there is no file or folder '"));
  Add("notes.txt");
  EXPECT_THAT(Error("notes.txt"), HasSubstr("has to end in .onnx, .xml"));
  Add("flat/net.onnx");
  EXPECT_THAT(Error("flat"),
              HasSubstr("only 'net.onnx', which belongs into '" + Path("flat/NAME/1/net.onnx") +
                        "'; `nereid " + Path("flat/net.onnx") + "` serves that file alone"));
  Add("models/digits/1/model.onnx");
  EXPECT_THAT(Error("models/digits/1"),
              HasSubstr("is the folder of a version, with 'model.onnx'; the model's folder is '" +
                        Path("models/digits") + "'"));
  std::filesystem::create_directory(Path("empty"));
  EXPECT_THAT(Error("empty"), HasSubstr("there is no model in '" + Path("empty") + "'"));
  EXPECT_EQ(Error("empty", /*loads_all=*/false), "");
}

}  // namespace
}  // namespace nereid
