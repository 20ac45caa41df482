// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "backend_host/testing/fake_backend.h"
#include "backend_host/testing/test_config.h"
#include "base/testing/temp_dir.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlugins[] = NEREID_TEST_PLUGINS;
constexpr char kFake[] = NEREID_TEST_PLUGINS "/fake/libtriton_fake.so";

class BackendRegistryTest : public ::testing::Test {
 protected:
  static BackendRegistry::Options Options(const std::string& directory = kPlugins) {
    BackendRegistry::Options options;
    options.directory = directory;
    return options;
  }

  absl::StatusOr<std::shared_ptr<LoadedBackend>> Get(const std::string& backend,
                                                     const std::string& more = "") {
    return registry_.Get(MakeTestConfig("m", backend, more), dir_.path(), 1);
  }
  std::string Refusal(const std::string& backend, const std::string& more = "") {
    const absl::Status status = Get(backend, more).status();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  TempDir dir_;  // the model's directory
  BackendRegistry registry_{Options()};
};

// ---- Finding

TEST_F(BackendRegistryTest, LoadsABackendOnce) {
  FakeBackend fake;
  const auto first = Get("fake");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->name(), "fake");
  EXPECT_EQ((*first)->artifact_dir(), std::string(kPlugins) + "/fake");
  EXPECT_EQ(*Get("fake"), *first);
  EXPECT_THAT(fake.Journal(), ElementsAre("initialize"));
}

TEST_F(BackendRegistryTest, LoadsABackendOnceForManyThreads) {
  FakeBackend fake;
  std::vector<std::shared_ptr<LoadedBackend>> found(4);
  std::vector<std::thread> threads;
  const ParsedConfig config = MakeTestConfig("m", "fake");
  for (auto& slot : found) {
    threads.emplace_back([&] { slot = *registry_.Get(config, dir_.path(), 1); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& slot : found) EXPECT_EQ(slot, found[0]);
  EXPECT_THAT(fake.Journal(), ElementsAre("initialize"));
}

TEST_F(BackendRegistryTest, IsFinalisedWithItsRegistry) {
  FakeBackend fake;
  {
    BackendRegistry registry(Options());
    ASSERT_TRUE(registry.Get(MakeTestConfig("m", "fake"), dir_.path(), 1).ok());
  }
  EXPECT_THAT(fake.Journal(), ElementsAre("initialize", "finalize"));
}

TEST_F(BackendRegistryTest, SaysWhereItLooked) {
  const absl::Status status = Get("nowhere").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "unable to find backend library for backend 'nowhere', try specifying runtime on the "
            "model configuration. Searched: '" +
                dir_.path() + "/1' '" + dir_.path() + "' '" + kPlugins + "/nowhere' ");
}

TEST_F(BackendRegistryTest, SaysHowToGetABackendThatIsOptional) {
  EXPECT_THAT(std::string(Get("openvino").status().message()),
              EndsWith("(`make stage BACKENDS=openvino` installs it)"));
  EXPECT_THAT(std::string(Get("generative").status().message()),
              EndsWith("(`make stage BACKENDS=openvino` installs it)"));
}

TEST_F(BackendRegistryTest, TheVersionComesBeforeTheModelBeforeTheDirectory) {
  EXPECT_EQ((*Get("fake"))->artifact_dir(), std::string(kPlugins) + "/fake");
  dir_.Copy(kFake, "libtriton_fake.so");
  EXPECT_EQ((*Get("fake"))->artifact_dir(), dir_.path());
  dir_.Copy(kFake, "1/libtriton_fake.so");
  EXPECT_EQ((*Get("fake"))->artifact_dir(), dir_.Path("1"));
}

TEST_F(BackendRegistryTest, ARuntimeNamesAnotherLibrary) {
  dir_.Copy(kFake, "other.so");
  const auto backend = Get("fake", "runtime: \"other.so\"");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->artifact_dir(), dir_.path());
}

TEST_F(BackendRegistryTest, ALibraryCannotLieElsewhere) {
  for (const std::string runtime : {"../x.so", "/x.so", "a/b.so", ".."}) {
    EXPECT_EQ(Refusal("fake", "runtime: \"" + runtime + "\""),
              "backend library name '" + runtime + "' escapes backend directory '" + kPlugins +
                  "/fake', for model 'm', check model config runtime field");
  }
}

TEST_F(BackendRegistryTest, ABackendCannotLieElsewhere) {
  EXPECT_THAT(Refusal("../fake"), HasSubstr("escapes backend directory"));
}

// ---- Loading

TEST_F(BackendRegistryTest, AMissingSymbolIsNamed) {
  const std::string text = Refusal("unresolved");
  EXPECT_THAT(text, ::testing::StartsWith("backend 'unresolved': unable to load shared library: "));
  EXPECT_THAT(text, HasSubstr("NEREID_FunctionThatNobodyHas"));
}

TEST_F(BackendRegistryTest, AFileThatIsNoLibrary) {
  dir_.Write("libtriton_text.so", "this is no library");
  EXPECT_THAT(Refusal("text"),
              ::testing::StartsWith("backend 'text': unable to load shared library: "));
}

TEST_F(BackendRegistryTest, ALibraryWithoutExecuteIsNoBackend) {
  const absl::Status status = Get("no_execute").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), std::string("backend 'no_execute': library ") + kPlugins +
                                  "/no_execute/libtriton_no_execute.so does not export "
                                  "TRITONBACKEND_ModelInstanceExecute; is it a backend?");
}

TEST_F(BackendRegistryTest, TheBackendsOwnErrorIsPassedOn) {
  EXPECT_EQ(Get("refuses").status(), absl::UnimplementedError("no such device"));
}

TEST_F(BackendRegistryTest, AnExceptionIsAnErrorThatNamesTheBackend) {
  const absl::Status status = Get("throws").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("backend 'throws' threw an exception"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("out of luck"));
}

TEST_F(BackendRegistryTest, AFailedLoadIsTriedAgain) {
  dir_.Write("libtriton_fake.so", "this is no library");
  const auto stale = std::filesystem::last_write_time(dir_.Path("libtriton_fake.so"));
  EXPECT_FALSE(Get("fake").ok());
  dir_.Copy(kFake, "libtriton_fake.so");
  std::filesystem::last_write_time(dir_.Path("libtriton_fake.so"), stale);
  EXPECT_TRUE(Get("fake").ok());
}

// ---- Libraries of models

TEST_F(BackendRegistryTest, AModelsLibraryRunsFromAPrivateCopy) {
  const std::string path = dir_.Copy(kFake, "libtriton_fake.so");
  const auto backend = Get("fake");
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_NE((*backend)->library().path(), path);
  EXPECT_FALSE(std::filesystem::exists((*backend)->library().path()))
      << "only the code that is loaded is left of the copy";
  dir_.Write("libtriton_fake.so", std::string(100'000, 'x'));
  char journal[64];
  void (*write)(char*, size_t) = nullptr;
  ASSERT_TRUE((*backend)->library().Get("nereid_fake_journal", &write));
  write(journal, sizeof(journal));
  EXPECT_STREQ(journal, "initialize\n") << "its own journal: it is another library";
}

TEST_F(BackendRegistryTest, AChangedLibraryOfAModelIsLoadedAnew) {
  const std::string path = dir_.Copy(kFake, "libtriton_fake.so");
  const auto first = Get("fake");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*Get("fake"), *first);
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  const auto second = Get("fake");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(*second, *first);
}

// ---- Backends in Python

TEST_F(BackendRegistryTest, PythonBasedBackendsShareALibraryAndNothingElse) {
  TempDir backends;
  backends.Copy(kFake, "python/libtriton_python.so");
  backends.Write("one/model.py", "");
  backends.Write("two/model.py", "");
  BackendRegistry::Options options = Options(backends.path() + "//");
  options.settings = {{"one", {{"key", "of one"}}}, {"python", {{"key", "of python"}}}};
  BackendRegistry registry(std::move(options));
  const auto get = [&](const std::string& name) {
    return registry.Get(MakeTestConfig("m", name), dir_.path(), 1);
  };
  const auto one = get("one");
  ASSERT_TRUE(one.ok()) << one.status();
  const auto two = *get("two");
  const auto python = *get("python");
  EXPECT_NE(*one, two);
  EXPECT_NE(*one, python);
  EXPECT_EQ(*get("one"), *one);
  EXPECT_EQ((*one)->name(), "one");
  EXPECT_TRUE((*one)->python_based());
  EXPECT_EQ((*one)->artifact_dir(), backends.path() + "/one");
  EXPECT_FALSE(python->python_based());
  EXPECT_THAT((*one)->config()->json, HasSubstr(R"("key":"of one")"));
  EXPECT_THAT((*one)->config()->json,
              HasSubstr("\"backend-directory\":\"" + backends.path() + "\""));
  EXPECT_THAT(two->config()->json, Not(HasSubstr("\"key\"")));

  std::vector<std::string> loaded;
  for (const auto& backend : registry.Loaded()) loaded.push_back(backend->code());
  EXPECT_THAT(loaded, ElementsAre(backends.path() + "/one/model.py",
                                  backends.path() + "/python/libtriton_python.so",
                                  backends.path() + "/two/model.py"));
}

// ---- Attributes and settings of backends

TEST_F(BackendRegistryTest, TheBackendsAttributesAreKept) {
  const auto backend = Get("fake");
  ASSERT_TRUE(backend.ok()) << backend.status();
  const BackendAttributes& attributes = (*backend)->attributes();
  ASSERT_EQ(attributes.preferred_groups.size(), 1u);
  EXPECT_EQ(attributes.preferred_groups[0].kind, InstanceKind::kCpu);
  EXPECT_EQ(attributes.preferred_groups[0].count, 2u);
  EXPECT_FALSE(attributes.parallel_instance_loading);
}

TEST_F(BackendRegistryTest, TheDefaultConfiguration) {
  EXPECT_EQ((*Get("fake"))->config()->json,
            std::string(R"({"cmdline":{"auto-complete-config":"true","backend-directory":")") +
                kPlugins +
                R"(","default-max-batch-size":"4","min-compute-capability":"0.000000"}})");
}

TEST_F(BackendRegistryTest, SettingsOfTheBackendWinOverThoseForAll) {
  BackendRegistry::Options options = Options();
  options.settings = {{"", {{"a", "all"}, {"b", "all"}, {"default-max-batch-size", "8"}}},
                      {"fake", {{"b", "fake"}}},
                      {"other", {{"c", "other"}}}};
  options.auto_complete_config = false;
  BackendRegistry registry(std::move(options));
  const auto backend = registry.Get(MakeTestConfig("m", "fake"), dir_.path(), 1);
  ASSERT_TRUE(backend.ok()) << backend.status();
  EXPECT_EQ((*backend)->config()->json,
            std::string(R"({"cmdline":{"a":"all","auto-complete-config":"false","b":"fake",)"
                        R"("backend-directory":")") +
                kPlugins +
                R"(","default-max-batch-size":"8","min-compute-capability":"0.000000"}})");
}

// ---- Batching functions

TEST(FindBatchingEntryPointsTest, AllOrNone) {
  const auto full = PluginLibrary::Load("backend", "b", std::string(kPlugins) + "/batcher.so");
  ASSERT_TRUE(full.ok()) << full.status();
  const auto all = FindBatchingEntryPoints(**full, "library.so", "m");
  ASSERT_TRUE(all.ok());
  EXPECT_NE(all->batcher_initialize, nullptr);
  EXPECT_NE(all->batch_finalize, nullptr);

  const auto backend = PluginLibrary::Load("backend", "b", kFake);
  ASSERT_TRUE(backend.ok()) << backend.status();
  const auto none = FindBatchingEntryPoints(**backend, "library.so", "m");
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->batch_include, nullptr);
}

TEST(FindBatchingEntryPointsTest, SomeAreAnError) {
  const std::string path = std::string(kPlugins) + "/incomplete_batcher.so";
  const auto library = PluginLibrary::Load("backend", "b", path);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(FindBatchingEntryPoints(**library, "library.so", "m").status(),
            absl::InvalidArgumentError(
                "library.so does not define all required custom batching functions for model m"));
}

}  // namespace
}  // namespace nereid
