// SPDX-License-Identifier: Apache-2.0
#include "backend_host/backend_location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "backend_host/testing/test_config.h"
#include "base/testing/temp_dir.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Folders "backends" and "model"; libraries are empty files, because nothing is loaded.
class BackendLocationTest : public ::testing::Test {
 protected:
  absl::StatusOr<BackendLocation> Locate(const std::string& backend, const std::string& more = "") {
    return LocateBackend(backends_, MakeTestConfig("m", backend, more), model_, 1);
  }
  std::string Refusal(const std::string& backend, const std::string& more = "") {
    const absl::Status status = Locate(backend, more).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
  // With a library of the Python backend and one Python-based backend.
  void AddPythonBased() {
    dir_.Write("backends/python/libtriton_python.so", "");
    dir_.Write("backends/vllm/model.py", "");
  }

  TempDir dir_;
  std::string backends_ = dir_.Path("backends");
  const std::string model_ = dir_.Path("model");
};

TEST_F(BackendLocationTest, ALibraryComesBeforeAPythonFile) {
  AddPythonBased();
  dir_.Write("backends/vllm/libtriton_vllm.so", "");
  const auto found = Locate("vllm");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->python_based);
  EXPECT_EQ(found->code(), backends_ + "/vllm/libtriton_vllm.so");
}

TEST_F(BackendLocationTest, APythonBasedBackendRunsByThePythonBackend) {
  AddPythonBased();
  for (const std::string runtime : {"", "runtime: 'model.py'"}) {
    const auto found = Locate("vllm", runtime);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->python_based);
    EXPECT_FALSE(found->model_owned);
    EXPECT_EQ(found->library, backends_ + "/python/libtriton_python.so");
    EXPECT_EQ(found->artifact_dir, backends_ + "/vllm");
    EXPECT_EQ(found->code(), backends_ + "/vllm/model.py");
  }
}

TEST_F(BackendLocationTest, TheLibraryMayLieNearer) {
  AddPythonBased();
  dir_.Write("backends/vllm/libtriton_python.so", "");
  EXPECT_EQ(Locate("vllm")->library, backends_ + "/vllm/libtriton_python.so");
  dir_.Write("model/libtriton_python.so", "");
  EXPECT_EQ(Locate("vllm")->library, model_ + "/libtriton_python.so");
  dir_.Write("model/1/libtriton_python.so", "");
  const auto found = Locate("vllm");
  EXPECT_EQ(found->library, model_ + "/1/libtriton_python.so");
  EXPECT_TRUE(found->model_owned);
  EXPECT_EQ(found->artifact_dir, backends_ + "/vllm");
}

TEST_F(BackendLocationTest, APythonFileOfAModelMakesNoBackend) {
  dir_.Write("backends/python/libtriton_python.so", "");
  dir_.Write("model/model.py", "");
  dir_.Write("model/1/model.py", "");
  EXPECT_THAT(Refusal("vllm"), HasSubstr("unable to find backend library for backend 'vllm', try "
                                         "specifying runtime on the model configuration."));
  EXPECT_EQ(Refusal("vllm", "runtime: 'model.py'"),
            "unable to find Python backend based backend library 'model.py' for model 'm', "
            "searched: '" +
                backends_ + "/vllm/model.py'");
}

TEST_F(BackendLocationTest, AMissingPythonBackendIsNamed) {
  dir_.Write("backends/vllm/model.py", "");
  EXPECT_EQ(Refusal("vllm"),
            "unable to find backend library 'libtriton_python.so' for model 'm', "
            "searched: '" +
                model_ + "/1' '" + model_ + "' '" + backends_ + "/vllm' '" + backends_ +
                "/python' ");
}

TEST_F(BackendLocationTest, ThePythonBackendItselfIsNoPythonBasedOne) {
  AddPythonBased();
  dir_.Write("backends/python/model.py", "");
  for (const std::string runtime : {"", "runtime: 'model.py'"}) {
    const auto found = Locate("python", runtime);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_FALSE(found->python_based);
    EXPECT_EQ(found->artifact_dir, backends_ + "/python");
  }
}

TEST_F(BackendLocationTest, NamesDoNotLeadOut) {
  AddPythonBased();
  EXPECT_THAT(Refusal("../vllm"), HasSubstr("escapes backend directory"));
  EXPECT_THAT(Refusal("../vllm", "runtime: 'model.py'"), HasSubstr("escapes backend directory"));
  EXPECT_THAT(Refusal("vllm", "runtime: '../vllm/model.py'"),
              HasSubstr("escapes backend directory"));
}

TEST_F(BackendLocationTest, TheDirectoryMayBeSpelledInManyWays) {
  AddPythonBased();
  std::filesystem::create_directory_symlink(backends_, dir_.Path("link"));
  for (const std::string spelled : {"/backends/", "//backends", "/./backends/.", "/link",
                                    "/link/../backends", "/backends/vllm/.."}) {
    backends_ = dir_.path() + spelled;
    const auto found = Locate("vllm");
    ASSERT_TRUE(found.ok()) << spelled << ": " << found.status();
    EXPECT_EQ(found->artifact_dir, CleanPath(backends_) + "/vllm");
    EXPECT_EQ(found->library, CleanPath(backends_) + "/python/libtriton_python.so");
  }
}

TEST(CleanPathTest, KeepsWhatMatters) {
  EXPECT_EQ(CleanPath("/a//b/./c/"), "/a/b/c");
  EXPECT_EQ(CleanPath("a/../b"), "a/../b");
  EXPECT_EQ(CleanPath("//"), "/");
  EXPECT_EQ(CleanPath("./"), ".");
  EXPECT_EQ(CleanPath(""), "");
}

TEST_F(BackendLocationTest, SettingsForABackendThatIsMissing) {
  AddPythonBased();
  EXPECT_EQ(DescribeMissingBackend(backends_, "python"), "");
  EXPECT_EQ(DescribeMissingBackend(backends_, "vllm"), "");
  EXPECT_EQ(DescribeMissingBackend(backends_, "pyton"),
            "settings are given for the backend 'pyton', which is not in '" + backends_ +
                "' (did you mean 'python'?); they count only for a model that brings a backend of "
                "this name");
  EXPECT_THAT(DescribeMissingBackend(backends_, "nosuch"), Not(HasSubstr("did you mean")));
  EXPECT_NE(DescribeMissingBackend(dir_.Path("nowhere"), "python"), "");
}

}  // namespace
}  // namespace nereid
