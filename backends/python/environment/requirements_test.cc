// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "backends/python/environment/run_program.h"
#include "backends/python/environment/testing/files.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::ArchiveKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ReadText;
using testing::TempFolder;

class RequirementsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto python = testing::RealPython();
    if (!python) GTEST_SKIP() << "needs a python3";
    file_.variables = testing::WithNumpy(folder_);
    InterpreterTable table;
    file_.interpreter = *table.Ask(*python, file_.variables);
    file_.cache = folder_.Path("cache");
    file_.wheelhouse = folder_.Path("wheels");
    file_.model = "m";
    file_.path = folder_.Write("model/1/requirements.txt", "tiny_package==1.0\n");
    WriteWheel();
  }
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  void WriteWheel() {
    fs::create_directories(file_.wheelhouse);
    const std::string info = "tiny_package-1.0.dist-info/";
    testing::WriteArchive(
        file_.wheelhouse + "/tiny_package-1.0-py3-none-any.whl", ArchiveKind::kZip,
        {{"tiny_package.py", "ANSWER = 42\n"},
         {info + "METADATA", "Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0\n"},
         {info + "WHEEL",
          "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
         {info + "RECORD", "tiny_package.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" +
                               info + "RECORD,,\n"}});
  }
  // Whether this Python can make virtual environments and install into them.
  bool CanInstall() {
    Program program;
    program.arguments = {file_.interpreter.path, "-c", "import venv, pip"};
    program.variables = file_.variables;
    const Result<ProgramEnd> end = RunProgram(program);
    return end.ok() && end->ok;
  }
  std::vector<std::string> Run(const std::string& environment, const std::string& commands) {
    Program program;
    program.arguments = {environment + "/bin/python", "-c", commands};
    program.variables = file_.variables;
    program.variables.Remove("PYTHONPATH");
    return RunProgram(program)->tail;
  }

  TempFolder folder_;
  RequirementsFile file_;
};

TEST_F(RequirementsTest, AreInstalledFromAFolderOfWheels) {
  if (!CanInstall()) GTEST_SKIP() << "needs a python3 with venv and pip";
  const Result<std::string> first = InstallRequirements(file_);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(Run(*first, "import tiny_package; print(tiny_package.ANSWER)"), ElementsAre("42"));
  // The interpreter's packages stay visible, after the installed ones.
  EXPECT_THAT(Run(*first, "import sys; print(all(p in sys.path for p in " + std::string("['") +
                              file_.interpreter.packages[0] + "']))"),
              ElementsAre("True"));
  // The second call finds the installed environment, so it needs no wheels.
  fs::remove_all(file_.wheelhouse);
  EXPECT_EQ(*InstallRequirements(file_), *first);
}

TEST_F(RequirementsTest, AFailureShowsTheLastLinesOfPip) {
  if (!CanInstall()) GTEST_SKIP() << "needs a python3 with venv and pip";
  folder_.Write("model/1/requirements.txt", "tiny_package==2.0\n");
  Result<std::string> environment = InstallRequirements(file_);
  ASSERT_FALSE(environment.ok());
  EXPECT_THAT(environment.error().message(),
              AllOf(HasSubstr("model 'm': '" + file_.path + "' can not be installed: "),
                    HasSubstr("No matching distribution found for tiny_package==2.0")));
  for (const auto& entry : fs::directory_iterator(file_.cache)) {
    EXPECT_FALSE(entry.is_directory()) << "left behind: " << entry.path();
  }
}

// Replaces uv: records its arguments and makes the folders of an empty environment.
class UvTest : public RequirementsTest {
 protected:
  void SetUp() override {
    RequirementsTest::SetUp();
    if (IsSkipped()) return;
    const std::string packages =
        "/lib/python3." + std::to_string(file_.interpreter.minor) + "/site-packages";
    folder_.Script("tools/uv", "echo \"$@\" >> " + folder_.Path("asked") +
                                   "\n[ $1 = venv ] && mkdir -p \"$4" + packages + "\"\n" +
                                   "[ ! -e " + folder_.Path("fail") + " ]");
    file_.variables.Set("PATH", folder_.Path("tools") + ":/usr/bin:/bin");
  }
};

TEST_F(UvTest, DoesItWhereItIsThere) {
  const Result<std::string> environment = InstallRequirements(file_);
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(ReadText(folder_.Path("asked")),
            "venv --python " + file_.interpreter.path + " " + *environment + "\n" +
                "pip install --python " + *environment + "/bin/python --no-index --find-links " +
                file_.wheelhouse + " -r " + file_.path + "\n");
}

TEST_F(UvTest, IsAskedOnceForTheSameContent) {
  const std::string first = *InstallRequirements(file_);
  file_.path = folder_.Write("other/requirements.txt", "tiny_package==1.0\n");
  EXPECT_EQ(*InstallRequirements(file_), first);
  folder_.Write("other/requirements.txt", "tiny_package==1.1\n");
  EXPECT_NE(*InstallRequirements(file_), first);
  file_.interpreter.version = "3.13.9";
  EXPECT_NE(*InstallRequirements(file_), first);
}

TEST_F(UvTest, MayFail) {
  folder_.Write("fail", "");
  Result<std::string> environment = InstallRequirements(file_);
  ASSERT_FALSE(environment.ok());
  EXPECT_THAT(environment.error().message(), HasSubstr("exited with status 1"));
  fs::remove(folder_.Path("fail"));
  EXPECT_TRUE(InstallRequirements(file_).ok());
}

TEST(FindRequirementsTest, TheVersionComesFirst) {
  TempFolder folder;
  EXPECT_EQ(FindRequirements(folder.path(), 1), "");
  const std::string of_model = folder.Write("requirements.txt", "");
  EXPECT_EQ(FindRequirements(folder.path(), 1), of_model);
  const std::string of_version = folder.Write("1/requirements.txt", "");
  EXPECT_EQ(FindRequirements(folder.path(), 1), of_version);
  EXPECT_EQ(FindRequirements(folder.path(), 2), of_model);
}

}  // namespace
}  // namespace nereid_backend
