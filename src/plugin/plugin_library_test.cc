// SPDX-License-Identifier: Apache-2.0
#include "plugin/plugin_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<PluginLibrary> Load(PluginLibrary::Open how = PluginLibrary::Open::kInPlace) {
  auto library = PluginLibrary::Load("cache", "small", NEREID_TEST_PLUGIN, how);
  EXPECT_TRUE(library.ok()) << library.status();
  return *std::move(library);
}

TEST(PluginLibraryTest, FindsWhatTheLibraryExports) {
  for (const auto how : {PluginLibrary::Open::kInPlace, PluginLibrary::Open::kPrivateCopy}) {
    const auto library = Load(how);
    EXPECT_EQ(library->name(), "small");
    int (*answer)() = nullptr;
    ASSERT_TRUE(library->Get("nereid_plugin_answer", &answer));
    EXPECT_EQ(answer(), 42);
    EXPECT_TRUE(library->Exports("nereid_plugin_answer"));
  }
}

TEST(PluginLibraryTest, WhatALibraryLacksIsNamed) {
  const auto library = Load();
  int (*none)() = [] { return 0; };
  EXPECT_FALSE(library->Get("Cache_Lookup", &none));
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(library->Require("Cache_Lookup", &none),
            absl::InvalidArgumentError("cache 'small': library " NEREID_TEST_PLUGIN
                                       " does not export Cache_Lookup; is it a cache?"));
}

TEST(PluginLibraryTest, APrivateCopyIsNoneOfTheFile) {
  EXPECT_EQ(Load()->path(), NEREID_TEST_PLUGIN);
  const auto copy = Load(PluginLibrary::Open::kPrivateCopy);
  EXPECT_NE(copy->path(), NEREID_TEST_PLUGIN);
  EXPECT_FALSE(std::filesystem::exists(copy->path()));
}

TEST(PluginLibraryTest, AFileThatCannotBeOpenedIsNamed) {
  for (const auto how : {PluginLibrary::Open::kInPlace, PluginLibrary::Open::kPrivateCopy}) {
    const absl::Status status = PluginLibrary::Load("cache", "none", "no/none.so", how).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), StartsWith("cache 'none': "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("no/none.so"));
  }
}

TEST(PluginLibraryTest, NamesDoNotLeadOutOfTheDirectory) {
  const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "plugins";
  std::filesystem::create_directories(root / "own" / "deep");
  for (const char* folder : {"", "own", "own/deep"}) std::ofstream(root / folder / "p.so") << "x";
  const std::string own = (root / "own").string();
  EXPECT_EQ(PluginLibrary::Find(own, "deep", "p.so"), own + "/deep/p.so");
  for (const char* name : {"", ".", "..", "../own", "deep/", "/deep", "other"}) {
    EXPECT_EQ(PluginLibrary::Find(own, name, "p.so"), std::nullopt) << name;
  }
  EXPECT_EQ(PluginLibrary::Find(own, "deep", "q.so"), std::nullopt);
}

TEST(CallPluginTest, AnErrorIsPassedOnAndAnExceptionNamesWhoThrewIt) {
  EXPECT_TRUE(
      CallPlugin("cache", "c", "", "Run", []() -> TRITONSERVER_Error* { return nullptr; }).ok());
  EXPECT_EQ(
      CallPlugin("cache", "c", "", "Run", [] { return ToCError(absl::NotFoundError("not here")); }),
      absl::NotFoundError("not here"));
  EXPECT_EQ(CallPlugin("backend", "b", "m", "Run",
                       []() -> TRITONSERVER_Error* { throw std::runtime_error("why"); }),
            absl::InternalError("backend 'b' threw an exception in Run of model 'm': why"));
  EXPECT_EQ(CallPlugin("cache", "c", "", "Run", []() -> TRITONSERVER_Error* { throw 1; }),
            absl::InternalError("cache 'c' threw an unknown exception in Run"));
}

}  // namespace
}  // namespace nereid
