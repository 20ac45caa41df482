// SPDX-License-Identifier: Apache-2.0
#include "config/autocomplete.h"

#include <gtest/gtest.h>

#include "config/testing/config_text.h"
#include "filesystem/fake_file_system.h"

namespace nereid {
namespace {

// Backend, platform and file name after completion, separated by '|'. `files` are paths in the
// model directory; a final slash makes a directory.
std::string Complete(absl::string_view text, const std::vector<std::string>& files,
                     const std::string& name = "m") {
  FakeFileSystem fs;
  fs.MakeDirectory("/r/m");
  for (const std::string& file : files) {
    if (file.back() == '/') {
      fs.MakeDirectory("/r/m/" + file);
    } else {
      fs.WriteFile("/r/m/" + file, "");
    }
  }
  inference::ModelConfig config = ConfigFromText(text);
  const absl::Status status = AutocompleteBackend(fs, "/r/m", name, &config);
  if (!status.ok()) return std::string(status.message());
  return config.backend() + "|" + config.platform() + "|" + config.default_model_filename();
}

TEST(AutocompleteTest, FilesTellTheBackend) {
  EXPECT_EQ(Complete("", {"1/model.onnx"}), "onnxruntime|onnxruntime_onnx|model.onnx");
  EXPECT_EQ(Complete("", {"1/model.onnx/"}), "onnxruntime|onnxruntime_onnx|model.onnx");
  EXPECT_EQ(Complete("", {"1/model.plan"}), "tensorrt|tensorrt_plan|model.plan");
  EXPECT_EQ(Complete("", {"1/model.xml", "1/model.bin"}), "openvino||model.xml");
  EXPECT_EQ(Complete("", {"1/model.tflite"}), "openvino||model.tflite");
  EXPECT_EQ(Complete("", {"1/model.pt"}), "pytorch|pytorch_libtorch|model.pt");
  EXPECT_EQ(Complete("", {"1/model.pt2"}), "pytorch|torch_aoti|model.pt2");
  EXPECT_EQ(Complete("", {"1/model.pt", "1/model.pt2"}), "pytorch|pytorch_libtorch|model.pt");
  EXPECT_EQ(Complete("", {"1/model.py"}), "python||model.py");
  EXPECT_EQ(Complete("", {"1/xgboost.json"}), "fil||xgboost.json");
  EXPECT_EQ(Complete("", {"1/xgboost.ubj"}), "fil||xgboost.ubj");
  EXPECT_EQ(Complete("", {"1/model.txt"}), "fil||model.txt");
  EXPECT_EQ(Complete("", {"1/checkpoint.tl"}), "fil||checkpoint.tl");
  EXPECT_EQ(Complete("", {"1/model.py", "1/model.txt"}), "python||model.py");
  EXPECT_EQ(Complete("", {"1/model.savedmodel/"}),
            "tensorflow|tensorflow_savedmodel|model.savedmodel");
  EXPECT_EQ(Complete("", {"1/model.graphdef"}), "tensorflow|tensorflow_graphdef|model.graphdef");
}

TEST(AutocompleteTest, KindOfTheFileMatters) {
  EXPECT_EQ(Complete("name: 'm.x'", {"1/model.savedmodel", "1/model.plan/"}), "x||model.x");
}

TEST(AutocompleteTest, EarlierBackendsWin) {
  EXPECT_EQ(Complete("", {"1/model.py", "1/model.onnx"}),
            "onnxruntime|onnxruntime_onnx|model.onnx");
}

TEST(AutocompleteTest, LooksAtTheFirstSubdirectoryInOrderOfNames) {
  EXPECT_EQ(Complete("", {"10/model.onnx", "9/model.py"}),
            "onnxruntime|onnxruntime_onnx|model.onnx");
}

TEST(AutocompleteTest, PlatformTellsTheBackend) {
  EXPECT_EQ(Complete("platform: 'onnxruntime_onnx'", {}),
            "onnxruntime|onnxruntime_onnx|model.onnx");
  EXPECT_EQ(Complete("platform: 'onnxruntime_onnx' default_model_filename: 'a.onnx'", {}),
            "onnxruntime|onnxruntime_onnx|a.onnx");
  EXPECT_EQ(Complete("platform: 'libtorch'", {}), "pytorch|libtorch|model.pt");
  EXPECT_EQ(Complete("platform: 'torch_aoti'", {}), "pytorch|torch_aoti|model.pt2");
  EXPECT_EQ(Complete("platform: 'ensemble'", {"1/model.onnx"}), "|ensemble|");
  EXPECT_EQ(Complete("platform: 'other'", {"1/model.onnx"}), "|other|");
}

TEST(AutocompleteTest, LanguageModelsHaveNamesOfTheirOwn) {
  EXPECT_EQ(Complete("", {"1/openvino_model.xml", "1/openvino_model.bin"}),
            "generative||openvino_model.xml");
  EXPECT_EQ(Complete("", {"1/openvino_model.xml", "1/model.onnx"}),
            "onnxruntime|onnxruntime_onnx|model.onnx");
  EXPECT_EQ(Complete("backend: 'generative'", {}), "generative||openvino_model.xml");
  EXPECT_EQ(Complete("backend: 'openvino'", {"1/openvino_model.xml"}), "openvino||model.xml");
}

TEST(AutocompleteTest, FileNameTellsTheBackend) {
  EXPECT_EQ(Complete("default_model_filename: 'model.onnx'", {}),
            "onnxruntime|onnxruntime_onnx|model.onnx");
  EXPECT_EQ(Complete("default_model_filename: 'model.graphdef'", {"1/model.savedmodel/"}),
            "tensorflow|tensorflow_graphdef|model.graphdef");
  EXPECT_EQ(Complete("default_model_filename: 'weights'", {"1/model.onnx"}), "||weights");
}

TEST(AutocompleteTest, KnownBackendIsFilledOthersAreLeft) {
  EXPECT_EQ(Complete("backend: 'onnxruntime'", {}), "onnxruntime|onnxruntime_onnx|model.onnx");
  EXPECT_EQ(Complete("backend: 'onnxruntime' default_model_filename: 'a.onnx'", {"1/model.py"}),
            "onnxruntime|onnxruntime_onnx|a.onnx");
  EXPECT_EQ(Complete("backend: 'pytorch'", {"1/model.pt2"}), "pytorch|torch_aoti|model.pt2");
  EXPECT_EQ(Complete("backend: 'python'", {}), "python||model.py");
  EXPECT_EQ(Complete("backend: 'openvino'", {}), "openvino||model.xml");
  EXPECT_EQ(Complete("backend: 'openvino'", {"1/model.onnx"}), "openvino||model.onnx");
  EXPECT_EQ(Complete("backend: 'openvino'", {"1/model.savedmodel/"}), "openvino||model.savedmodel");
  EXPECT_EQ(Complete("backend: 'tensorflow'", {}), "tensorflow||");
  EXPECT_EQ(Complete("backend: 'identity'", {"1/model.onnx"}), "identity||");
}

TEST(AutocompleteTest, NameTellsACustomBackend) {
  EXPECT_EQ(Complete("", {"1/data"}, "anything.my.backend"), "my.backend||model.my.backend");
  EXPECT_EQ(Complete("name: 'a.b'", {}), "b||model.b");
}

TEST(AutocompleteTest, NothingTellsTheBackend) {
  EXPECT_EQ(
      Complete("", {"1/model.bin"})
          .rfind("Invalid model name: Could not determine backend for model 'm' with no backend in "
                 "model configuration. Expected model name of the form 'model.<backend_name>'.",
                 0),
      0u);
}

TEST(AutocompleteTest, NameDefaultsToTheDirectory) {
  FakeFileSystem fs;
  fs.MakeDirectory("/r/m/1");
  inference::ModelConfig config = ConfigFromText("backend: 'b'");
  ASSERT_EQ(AutocompleteBackend(fs, "/r/m", "m", &config), absl::OkStatus());
  EXPECT_EQ(config.name(), "m");
  EXPECT_TRUE(absl::IsNotFound(AutocompleteBackend(fs, "/r/none", "none", &config)));
}

}  // namespace
}  // namespace nereid
