// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "backends/python/environment/testing/files.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::TempFolder;

Program Shell(const std::string& commands) {
  Program program;
  program.arguments = {"/bin/sh", "-c", commands};
  program.variables = Variables::OfThisProcess();
  return program;
}

TEST(RunProgramTest, PassesLinesOn) {
  Program program = Shell("echo one; echo two >&2; printf three");
  std::vector<std::string> lines;
  program.on_line = [&](const std::string& line) { lines.push_back(line); };
  const Result<ProgramEnd> end = RunProgram(program);
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(end->ok);
  EXPECT_EQ(end->how, "exited with status 0");
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
  EXPECT_EQ(end->tail, lines);
}

TEST(RunProgramTest, KeepsTheLastLines) {
  const Result<ProgramEnd> end = RunProgram(Shell("for i in $(seq 100); do echo $i; done; exit 3"));
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->ok);
  EXPECT_EQ(end->how, "exited with status 3");
  EXPECT_THAT(end->tail, SizeIs(kTailLines));
  EXPECT_EQ(end->tail.back(), "100");
}

TEST(RunProgramTest, SaysWhichSignalEndedIt) {
  const Result<ProgramEnd> end = RunProgram(Shell("kill -SEGV $$"));
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->how, "ended by signal 11 (Segmentation fault)");
}

TEST(RunProgramTest, GivesTheVariablesAndNothingElse) {
  Program program = Shell("echo $ONE; ls /proc/self/fd | wc -l; cat");
  program.variables.Set("ONE", "1");
  const Result<ProgramEnd> end = RunProgram(program);
  ASSERT_TRUE(end.ok());
  // The descriptors 0 to 2, and the one that `ls` has open for the folder it reads.
  EXPECT_THAT(end->tail, ElementsAre("1", "4"));
}

TEST(RunProgramTest, EndsWhatTakesTooLongWithAllItHasStarted) {
  Program program = Shell("sleep 1000 & echo $!; sleep 1000");
  program.limit = std::chrono::seconds(1);
  const Result<ProgramEnd> end = RunProgram(program);
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->ok);
  EXPECT_EQ(end->how, "took longer than 1 s and was ended");
  ASSERT_THAT(end->tail, SizeIs(1));
  const int child = static_cast<int>(syscall(SYS_pidfd_open, std::stoi(end->tail[0]), 0));
  pollfd wait = {child, POLLIN, 0};
  if (child >= 0) {
    EXPECT_EQ(poll(&wait, 1, 10'000), 1) << "the background process lives on";
  }
  close(child);
}

TEST(RunProgramTest, IsNotHeldUpByWhatItLeavesBehind) {
  const Result<ProgramEnd> end = RunProgram(Shell("sleep 1000 & echo done"));
  ASSERT_TRUE(end.ok());
  EXPECT_TRUE(end->ok);
}

TEST(RunProgramTest, AProgramThatIsNotThere) {
  Program program;
  program.arguments = {"/no/such/program"};
  Result<ProgramEnd> end = RunProgram(program);
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message(), HasSubstr("failed to start '/no/such/program': No such file"));
}

TEST(RunProgramTest, EndsWithTheProcessThatStartedIt) {
  const auto python = testing::RealPython();
  if (!python) GTEST_SKIP() << "needs a python3";
  TempFolder folder;
  const std::string file = folder.Path("pid");
  const pid_t server = fork();
  if (server == 0) {
    Program program =
        Shell("echo $$ > " + file + ".new; mv " + file + ".new " + file + "; sleep 1000");
    program.starter = *python;
    (void)RunProgram(program);
    _exit(1);
  }
  ASSERT_GT(server, 0);
  for (int i = 0; i < 3000 && access(file.c_str(), F_OK) != 0; ++i) {
    poll(nullptr, 0, 10);
  }
  const std::string text = testing::ReadText(file);
  ASSERT_NE(text, "") << "the program has not come up";
  const int program = static_cast<int>(syscall(SYS_pidfd_open, std::stoi(text), 0));
  ASSERT_GE(program, 0);
  kill(server, SIGKILL);
  EXPECT_EQ(waitpid(server, nullptr, 0), server);
  pollfd wait = {program, POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, 30'000), 1) << "the program lives on";
  close(program);
}

}  // namespace
}  // namespace nereid_backend
