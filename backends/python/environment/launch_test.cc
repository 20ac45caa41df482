// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "backends/python/environment/testing/files.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using testing::ArchiveKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::InterpreterAnswer;
using ::testing::MatchesRegex;
using testing::TempFolder;

// The interpreters are scripts that print what an interpreter would report, so the test does not
// depend on the machine.
class LaunchTest : public ::testing::Test {
 protected:
  LaunchTest() {
    folder_.Script("tools/python3", InterpreterAnswer("3.11.2", ""));
    settings_.backend = "python";
    settings_.requirements_cache = folder_.Path("cache");
    settings_.variables.Set("PATH", folder_.Path("tools") + ":/usr/bin:/bin");
    settings_.variables.Set("PYTHONHOME", "/elsewhere");
    config_.name = "m";
    config_.version = 1;
    config_.directory = folder_.Path("models/m");
    fs::create_directories(config_.directory + "/1");
  }
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  void UseEnvironment(const std::string& path) {
    config_.json =
        *Json::Parse(R"({"parameters":{"EXECUTION_ENV_PATH":{"string_value":")" + path + R"("}}})");
  }
  Result<Launch> Prepare(int threads = 2) {
    return PythonEnvironments(settings_).Prepare(config_, threads);
  }
  std::string Refusal() {
    Result<Launch> launch = Prepare();
    return launch.ok() ? "no error" : launch.error().message();
  }
  static std::string Get(const Launch& launch, const std::string& name) {
    std::vector<std::string> all = launch.environment;
    all.insert(all.end(), launch.threads.begin(), launch.threads.end());
    return Variables(all).Get(name).value_or("(not set)");
  }
  // The files of a packed environment.
  static std::vector<testing::ArchivedFile> Packed() {
    return {{"bin/python3", "#!/bin/sh\n" + InterpreterAnswer("3.12.1", "") + "\n", 0755},
            {"conda-meta/history", ""}};
  }

  TempFolder folder_;
  PythonSettings settings_;
  ModelConfig config_;
};

TEST_F(LaunchTest, ByDefaultThePythonOnThePath) {
  const Result<Launch> launch = Prepare();
  ASSERT_TRUE(launch.ok());
  EXPECT_EQ(launch->interpreter, folder_.Path("tools/python3"));
  EXPECT_EQ(launch->version, "3.11.2");
  EXPECT_EQ(launch->description, "Python 3.11.2 of '" + folder_.Path("tools/python3") +
                                     "' ('python3' on the PATH), 2 threads for its numerical "
                                     "libraries");
  EXPECT_EQ(Get(*launch, "PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(Get(*launch, "PYTHONHOME"), "/elsewhere");
}

TEST_F(LaunchTest, ASettingNamesAnother) {
  settings_.python = folder_.Script("other/python", InterpreterAnswer("3.9.18", ""));
  const Result<Launch> launch = Prepare();
  ASSERT_TRUE(launch.ok());
  EXPECT_EQ(launch->interpreter, settings_.python);
  settings_.python = "python9";
  EXPECT_THAT(Refusal(), MatchesRegex("model 'm' needs a Python interpreter: there is no 'python9' "
                                      "on the PATH.*\\(backend setting 'python'\\)"));
}

TEST_F(LaunchTest, ThreadsAreShared) {
  const Result<Launch> launch = Prepare(3);
  ASSERT_TRUE(launch.ok());
  for (const char* name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"}) {
    EXPECT_EQ(Get(*launch, name), "3") << name;
  }
  EXPECT_EQ(Get(*Prepare(0), "OMP_NUM_THREADS"), "(not set)");
  settings_.variables.Set("MKL_NUM_THREADS", "1");
  EXPECT_EQ(Get(*Prepare(3), "MKL_NUM_THREADS"), "1");
  EXPECT_EQ(Get(*Prepare(3), "OMP_NUM_THREADS"), "3");
  // OMP_NUM_THREADS from the server's environment also applies to the other libraries.
  settings_.variables.Set("OMP_NUM_THREADS", "8");
  EXPECT_EQ(Get(*Prepare(3), "OPENBLAS_NUM_THREADS"), "(not set)");
  EXPECT_THAT(Prepare(3)->description, HasSubstr("OMP_NUM_THREADS=8 by the server's environment"));
  // Launches that differ in nothing else share what is prepared for their environment.
  EXPECT_THAT(Prepare(3)->threads, ElementsAre("OMP_NUM_THREADS=8", "MKL_NUM_THREADS=1"));
  EXPECT_EQ(Prepare(3)->environment, Prepare(4)->environment);
}

TEST_F(LaunchTest, AVirtualEnvironmentIsUsedWhereItIs) {
  folder_.Script("models/m/venv/bin/python", InterpreterAnswer("3.10.13", ""));
  UseEnvironment("$$TRITON_MODEL_DIRECTORY/venv");
  const Result<Launch> launch = Prepare();
  ASSERT_TRUE(launch.ok());
  const std::string venv = folder_.Path("models/m/venv");
  EXPECT_EQ(launch->interpreter, venv + "/bin/python");
  EXPECT_EQ(Get(*launch, "VIRTUAL_ENV"), venv);
  EXPECT_EQ(Get(*launch, "CONDA_PREFIX"), "(not set)");
  EXPECT_EQ(Get(*launch, "PYTHONHOME"), "(not set)");
  EXPECT_EQ(Get(*launch, "PATH"), venv + "/bin:" + folder_.Path("tools") + ":/usr/bin:/bin");
  EXPECT_THAT(launch->description, HasSubstr("(EXECUTION_ENV_PATH '" + venv + "')"));
}

TEST_F(LaunchTest, APackedEnvironmentIsUnpackedOnce) {
  testing::WriteArchive(folder_.Path("models/env.tar.gz"), ArchiveKind::kTarGz, Packed());
  UseEnvironment("$$TRITON_MODEL_DIRECTORY/../env.tar.gz");
  PythonEnvironments environments(settings_);
  std::vector<std::thread> threads;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Result<Launch> launch = environments.Prepare(config_, 1);
      ASSERT_TRUE(launch.ok());
      EXPECT_EQ(launch->version, "3.12.1");
      EXPECT_THAT(Get(*launch, "CONDA_PREFIX"), HasSubstr(folder_.Path("cache/unpacked-")));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string log = ::testing::internal::GetCapturedStderr();
  const size_t first = log.find("model 'm': unpacking '");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("model 'm': unpacking '", first + 1), std::string::npos) << log;
  EXPECT_THAT(log,
              HasSubstr("model 'm': unpacked '" + folder_.Path("models/env.tar.gz") + "' in "));
}

TEST_F(LaunchTest, AnArchiveThatHasChangedIsUnpackedAnew) {
  const std::string path = folder_.Path("env.tar");
  testing::WriteArchive(path, ArchiveKind::kTar, Packed());
  UseEnvironment(path);
  const std::string before = Prepare()->interpreter;
  EXPECT_EQ(Prepare()->interpreter, before);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_NE(Prepare()->interpreter, before);
}

TEST_F(LaunchTest, CondaUnpackIsRun) {
  std::vector<testing::ArchivedFile> files = Packed();
  // This script, in place of an interpreter, also runs the program that it is given.
  files[0].content =
      "#!/bin/sh\n[ \"$2\" = -S ] && exec \"$6\" \"$7\"\n[ -f \"$1\" ] && . \"$1\"\n" +
      InterpreterAnswer("3.12.1", "") + "\n";
  files.push_back({"bin/conda-unpack", "echo done > " + folder_.Path("told") + "\n", 0755});
  testing::WriteArchive(folder_.Path("env.tar"), ArchiveKind::kTar, files);
  UseEnvironment(folder_.Path("env.tar"));
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(testing::ReadText(folder_.Path("told")), "done\n");

  files.back().content = "echo it is broken; exit 3\n";
  testing::WriteArchive(folder_.Path("env.tar"), ArchiveKind::kTar, files);
  EXPECT_THAT(Refusal(), HasSubstr("bin/conda-unpack of '" + folder_.Path("env.tar") +
                                   "' exited with status 3, and wrote:\nit is broken"));
}

TEST_F(LaunchTest, WhatIsWrongWithAnEnvironmentIsSaid) {
  UseEnvironment("/no/such/env");
  EXPECT_EQ(Refusal(),
            "Failed to get the canonical path for /no/such/env. (EXECUTION_ENV_PATH of model 'm': "
            "No such file or directory)");
  UseEnvironment(folder_.path());
  EXPECT_EQ(Refusal(), "model 'm': EXECUTION_ENV_PATH '" + folder_.path() +
                           "' holds no bin/python3 that can be run; it has to be a virtual "
                           "environment, an environment of conda, or an archive of one");
  UseEnvironment(folder_.Write("env.tar.gz", "no archive"));
  EXPECT_THAT(Refusal(), HasSubstr("env.tar.gz' can not be unpacked: "));
  folder_.Script("old/bin/python3", InterpreterAnswer("3.8.18", ""));
  UseEnvironment(folder_.Path("old"));
  EXPECT_EQ(Refusal(), "model 'm': '" + folder_.Path("old/bin/python3") +
                           "' is Python 3.8.18; models run in Python 3.9 to 3.14");
  folder_.Script("bare/bin/python3", InterpreterAnswer("3.12.1", "", R"("has_numpy":false)"));
  UseEnvironment(folder_.Path("bare"));
  EXPECT_EQ(Refusal(), "model 'm': Python 3.12.1 of '" + folder_.Path("bare/bin/python3") +
                           "' has no numpy; `" + folder_.Path("bare/bin/python3") +
                           " -m pip install numpy` installs it");
  testing::WriteArchive(folder_.Path("env.tar"), ArchiveKind::kTar, Packed());
  UseEnvironment(folder_.Path("env.tar"));
  settings_.requirements_cache.clear();
  EXPECT_THAT(Refusal(), HasSubstr("set the backend setting 'requirements-cache'"));
}

TEST_F(LaunchTest, RequirementsAreInstalledOnlyWhereThatIsAskedFor) {
  const std::string path = folder_.Write("models/m/1/requirements.txt", "some-package\n");
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("model 'm': '" + path +
                        "' is not installed; the server option "
                        "--backend-config=python,install-requirements=true has it installed"));
  EXPECT_FALSE(fs::exists(settings_.requirements_cache));

  const std::string answer = InterpreterAnswer("3.11.2", "");
  folder_.Write("answer", "#!/bin/sh\n" + answer + "\n", 0700);
  folder_.Script("tools/python3", "[ \"$2\" = -S ] && shift 5 && exec \"$@\"\n" + answer);
  folder_.Script("tools/uv",
                 "[ $1 = venv ] || exit 0\nmkdir -p \"$4/bin\" "
                 "\"$4/lib/python3.11/site-packages\"\ncp " +
                     folder_.Path("answer") + " \"$4/bin/python\"");
  settings_.install_requirements = true;
  const Result<Launch> launch = Prepare();
  ASSERT_TRUE(launch.ok());
  EXPECT_THAT(launch->interpreter, HasSubstr(folder_.Path("cache/installed-")));
  EXPECT_THAT(launch->description, HasSubstr(", with '" + path + "' in '"));
  EXPECT_THAT(Get(*launch, "VIRTUAL_ENV"), HasSubstr("/installed-"));
}

TEST_F(LaunchTest, TheOriginalsProgramIsSaidToHaveNoEffect) {
  folder_.Write("models/m/triton_python_backend_stub", "");
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(Prepare().ok());
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      HasSubstr("model 'm': 'triton_python_backend_stub' in its folder has no effect here"));
}

}  // namespace
}  // namespace nereid_backend
