// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/python/environment/testing/files.h"
#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::InterpreterAnswer;
using testing::TempFolder;

class InterpreterTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  std::string Refusal(const std::string& version, const std::string& more) {
    const std::string path = folder_.Script("python", InterpreterAnswer(version, "", more));
    const Result<Interpreter> interpreter = table_.Ask(path, variables_);
    EXPECT_TRUE(interpreter.ok());
    const Error error = CheckSupported(*interpreter);
    return error.ok() ? "" : error.message();
  }

  TempFolder folder_;
  Variables variables_ = Variables::OfThisProcess();
  InterpreterTable table_;
};

TEST_F(InterpreterTest, ARealOneSaysWhatItIs) {
  const auto python = testing::RealPython();
  if (!python) GTEST_SKIP() << "needs a python3";
  const Result<Interpreter> interpreter = table_.Ask(*python, testing::WithNumpy(folder_));
  ASSERT_TRUE(interpreter.ok());
  EXPECT_EQ(interpreter->major, 3);
  EXPECT_THAT(interpreter->abi, HasSubstr("cpython-3"));
  EXPECT_FALSE(interpreter->packages.empty());
  EXPECT_TRUE(interpreter->has_numpy);
  EXPECT_EQ(interpreter->version.substr(0, 2), "3.");
}

TEST_F(InterpreterTest, NumpyInTheWorkingDirectoryDoesNotCount) {
  const auto python = testing::RealPython();
  if (!python) GTEST_SKIP() << "needs a python3";
  folder_.Write("numpy/__init__.py", "");
  variables_.Set("PYTHONNOUSERSITE", "1");
  const std::string script =
      folder_.Script("python", "cd " + folder_.path() + " && exec " + *python + " -S \"$@\"");
  const Result<Interpreter> interpreter = table_.Ask(script, variables_);
  ASSERT_TRUE(interpreter.ok());
  EXPECT_FALSE(interpreter->has_numpy);
  EXPECT_EQ(interpreter->path, *python) << "the interpreter itself, not the script";
}

TEST_F(InterpreterTest, OldAndNewAndFreeThreadedOnesAreRefused) {
  EXPECT_EQ(Refusal("3.9.18", R"("has_numpy":false)"), "");
  EXPECT_EQ(Refusal("3.14.1", R"("has_numpy":false)"), "");
  EXPECT_EQ(Refusal("3.8.18", R"("has_numpy":false)"),
            "'" + folder_.Path("python") + "' is Python 3.8.18; models run in Python 3.9 to 3.14");
  EXPECT_THAT(Refusal("3.15.0", R"("has_numpy":false)"), HasSubstr("is Python 3.15.0; "));
  EXPECT_THAT(Refusal("2.7.18", R"("has_numpy":false)"), HasSubstr("is Python 2.7.18; "));
  EXPECT_EQ(Refusal("3.13.0", R"("has_numpy":false,"free_threaded":true)"),
            "'" + folder_.Path("python") +
                "' is Python 3.13.0 without the global interpreter lock; models run in Python 3.9 "
                "to 3.14 with that lock");
}

TEST_F(InterpreterTest, WhatDoesNotAnswerIsNoInterpreter) {
  const std::string path = folder_.Script("python", "echo something is wrong; exit 7");
  Result<Interpreter> interpreter = table_.Ask(path, variables_);
  ASSERT_FALSE(interpreter.ok());
  EXPECT_EQ(interpreter.error().message(),
            "'" + path +
                "' is no Python interpreter that runs: asked for its version it exited with status "
                "7, and wrote:\nsomething is wrong");
}

TEST_F(InterpreterTest, AnAnswerIsKeptUntilTheFileChanges) {
  const std::string count = "echo x >> " + folder_.Path("count") + "\n";
  std::string path = folder_.Script("python", count + InterpreterAnswer("3.11.2", ""));
  ASSERT_TRUE(table_.Ask(path, variables_).ok());
  ASSERT_TRUE(table_.Ask(path, variables_).ok());
  EXPECT_EQ(testing::ReadText(folder_.Path("count")), "x\n");
  folder_.Script("other", count + InterpreterAnswer("3.12.1", ""));
  rename(folder_.Path("other").c_str(), path.c_str());
  const Result<Interpreter> again = table_.Ask(path, variables_);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->version, "3.12.1");
}

TEST_F(InterpreterTest, OneWithoutNumpyIsAskedAgain) {
  const std::string path =
      folder_.Script("python", "echo x >> " + folder_.Path("count") + "\n" +
                                   InterpreterAnswer("3.11.2", "", R"("has_numpy":false)"));
  ASSERT_TRUE(table_.Ask(path, variables_).ok());
  ASSERT_TRUE(table_.Ask(path, variables_).ok());
  EXPECT_EQ(testing::ReadText(folder_.Path("count")), "x\nx\n");
}

TEST_F(InterpreterTest, ExecutablesAreLookedUpOnThePath) {
  folder_.Write("first/tool", "no program");
  folder_.Script("second/tool", "true");
  variables_.Set("PATH", folder_.Path("first") + ":" + folder_.Path("second"));
  EXPECT_EQ(*FindExecutable("tool", variables_), folder_.Path("second/tool"));
  EXPECT_EQ(*FindExecutable(folder_.Path("second/tool"), variables_), folder_.Path("second/tool"));
  Result<std::string> none = FindExecutable("other", variables_);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), HasSubstr("there is no 'other' on the PATH, which is '"));
  none = FindExecutable(folder_.Path("first/tool"), variables_);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), EndsWith("tool' is no file that can be run"));
}

}  // namespace
}  // namespace nereid_backend
