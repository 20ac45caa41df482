// SPDX-License-Identifier: Apache-2.0
#include "tune/engine.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "filesystem/temp_directory.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CompiledModel OnBackend(const std::string& backend, const std::string& threads = "") {
  CompiledModel model;
  model.backend = backend;
  if (!threads.empty()) model.parameters[ThreadParameterOf(backend)] = threads;
  return model;
}

TEST(EnginesFor, PowersOfTwoUpToTheProcessors) {
  EXPECT_THAT(EnginesFor(OnBackend("onnxruntime"), 6, {}, {}),
              ElementsAre(Engine{0}, Engine{1}, Engine{2}, Engine{4}));
  EXPECT_THAT(EnginesFor(OnBackend("openvino", "2"), 6, {}, {}),
              ElementsAre(Engine{2}, Engine{1}, Engine{4}, Engine{6}));
  EXPECT_THAT(EnginesFor(OnBackend("onnxruntime"), 1, {}, {}), ElementsAre(Engine{0}));
}

TEST(EnginesFor, WhatWasAskedFor) {
  EXPECT_THAT(EnginesFor(OnBackend("pytorch", "2"), 8, {2, 3}, {}),
              ElementsAre(Engine{2}, Engine{3}));
}

TEST(EnginesFor, OnlyTodaysWithoutAParameter) {
  EXPECT_THAT(EnginesFor(OnBackend("identity"), 8, {4}, {}), ElementsAre(Engine{0}));
  EXPECT_EQ(ThreadParameterOf("tensorflow"), "TF_NUM_INTRA_THREADS");
}

TEST(EnginesFor, OtherBackends) {
  EXPECT_THAT(EnginesFor(OnBackend("onnxruntime", "1"), 2, {}, {"openvino"}),
              ElementsAre(Engine{1}, Engine{2}, Engine{0, "openvino"}, Engine{1, "openvino"}));
  EXPECT_EQ(NameOf(Engine{1, "openvino"}), "openvino with 1 thread");
  EXPECT_EQ(NameOf(Engine{0, "openvino"}), "openvino");
  EXPECT_EQ(NameOf(Engine{0}), "");
}

TEST(OtherBackendsFor, ThoseThatReadTheFileAndAreInstalled) {
  const std::set<std::string> all = {"onnxruntime", "openvino", "pytorch", "tensorflow"};
  CompiledModel model = OnBackend("onnxruntime");
  model.default_model_filename = "model.onnx";
  EXPECT_THAT(OtherBackendsFor(model, all), ElementsAre("openvino"));
  EXPECT_THAT(OtherBackendsFor(model, {"onnxruntime"}), IsEmpty());
  model.backend = "openvino";
  EXPECT_THAT(OtherBackendsFor(model, all), ElementsAre("onnxruntime"));
  model.default_model_filename = "model.savedmodel";
  EXPECT_THAT(OtherBackendsFor(model, all), ElementsAre("tensorflow"));
  model.default_model_filename = "model.xml";
  EXPECT_THAT(OtherBackendsFor(model, all), IsEmpty());
  // A backend of somebody else may read other files of that name.
  model.backend = "ours";
  model.default_model_filename = "model.onnx";
  EXPECT_THAT(OtherBackendsFor(model, all), IsEmpty());
}

TEST(InstalledBackends, AreFoldersWithTheirLibrary) {
  const auto folder = TempDirectory::Make();
  ASSERT_TRUE(folder.ok());
  const std::filesystem::path root = (*folder)->path();
  for (const char* name : {"openvino", "onnxruntime", "other"}) {
    std::filesystem::create_directories(root / name);
  }
  std::ofstream(root / "openvino" / "libtriton_openvino.so");
  std::ofstream(root / "onnxruntime" / "libtriton_onnxruntime.so");
  std::ofstream(root / "other" / "libtriton_openvino.so");
  EXPECT_THAT(InstalledBackends(root.string()), ElementsAre("onnxruntime", "openvino"));
  EXPECT_THAT(InstalledBackends("/nowhere"), IsEmpty());
}

TEST(EngineOf, IsTheBackendsChoiceIfTheParameterIsNoNumber) {
  EXPECT_EQ(EngineOf(OnBackend("onnxruntime", "many")), Engine{0});
  EXPECT_EQ(EngineOf(OnBackend("onnxruntime", "3")), Engine{3});
}

}  // namespace
}  // namespace nereid
