#include "tune/engine.h"

#include <gmock/gmock.h>

namespace nereid {
namespace {

using ::testing::ElementsAre;

CompiledModel OnBackend(const std::string& backend, const std::string& threads = "") {
  CompiledModel model;
  model.backend = backend;
  if (!threads.empty()) model.parameters[ThreadParameterOf(backend)] = threads;
  return model;
}

TEST(EnginesFor, PowersOfTwoUpToTheProcessors) {
  EXPECT_THAT(EnginesFor(OnBackend("onnxruntime"), 6, {}),
              ElementsAre(Engine{0}, Engine{1}, Engine{2}, Engine{4}));
  EXPECT_THAT(EnginesFor(OnBackend("openvino", "2"), 6, {}),
              ElementsAre(Engine{2}, Engine{1}, Engine{4}, Engine{6}));
  EXPECT_THAT(EnginesFor(OnBackend("onnxruntime"), 1, {}), ElementsAre(Engine{0}));
}

TEST(EnginesFor, WhatWasAskedFor) {
  EXPECT_THAT(EnginesFor(OnBackend("pytorch", "2"), 8, {2, 3}), ElementsAre(Engine{2}, Engine{3}));
}

TEST(EnginesFor, OnlyTodaysWithoutAParameter) {
  EXPECT_THAT(EnginesFor(OnBackend("identity"), 8, {4}), ElementsAre(Engine{0}));
  EXPECT_EQ(ThreadParameterOf("tensorflow"), "TF_NUM_INTRA_THREADS");
}

TEST(EngineOf, IsTheBackendsChoiceIfTheParameterIsNoNumber) {
  EXPECT_EQ(EngineOf(OnBackend("onnxruntime", "many")), Engine{0});
  EXPECT_EQ(EngineOf(OnBackend("onnxruntime", "3")), Engine{3});
}

}  // namespace
}  // namespace nereid
