// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "backends/sdk/process/back_off.h"
#include "backends/sdk/process/child_process.h"
#include "backends/sdk/process/output_lines.h"

namespace nereid_backend {
namespace {

using nereid_ipc::UniqueFd;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The output of a program.
std::string OutputOf(const ChildProcess::Spec& spec) {
  Result<ChildProcess> child = ChildProcess::Start(spec);
  EXPECT_TRUE(child.ok());
  if (!child.ok()) return "";
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(child->output(), buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(got));
  }
  EXPECT_EQ(child->Reap(), "exited with status 0");
  return text;
}

// The server may have blocked or ignored signals and may have descriptors that are not closed on
// exec.
TEST(ChildProcessTest, InheritsWhatItIsGivenOnly) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = signal(SIGUSR2, SIG_IGN);
  const UniqueFd leaky(dup2(1, 77));  // not closed on exec
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const UniqueFd first(pipes[0]);
  const UniqueFd second(pipes[1]);

  const std::string status = OutputOf({"/bin/cat", {"/proc/self/status"}, {}, {}});
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  const size_t ignored = status.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos);
  // The C library reserves signals 32 and 33.
  EXPECT_EQ(std::stoull(status.substr(ignored + 8, 16), nullptr, 16) & 0x7fffffff, 0u);
  // 5 is the descriptor that ls has open for the folder it reads.
  EXPECT_EQ(OutputOf({"/bin/ls", {"/proc/self/fd"}, {}, {first.get(), second.get()}}),
            "0\n1\n2\n3\n4\n5\n");
  signal(SIGUSR2, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ChildProcessTest, GetsTheSoftLimitOfFilesBackThatTheServerHasRaised) {
  setenv("NEREID_SOFT_FILE_LIMIT", "61", 1);
  // The limit is set just after the start. A child that never sees it hangs the test.
  const char* const script = "until [ $(ulimit -Sn) = 61 ]; do :; done; ulimit -Sn; ulimit -Hn";
  struct rlimit own = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &own), 0);
  EXPECT_EQ(OutputOf({"/bin/sh", {"-c", script}, {}, {}}),
            "61\n" + std::to_string(own.rlim_max) + "\n");
  unsetenv("NEREID_SOFT_FILE_LIMIT");
  EXPECT_EQ(OutputOf({"/bin/sh", {"-c", "ulimit -Sn"}, {}, {}}),
            std::to_string(own.rlim_cur) + "\n");
}

TEST(ChildProcessTest, DescriptorsComeInTheirOrder) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const UniqueFd reads(pipes[0]);
  const UniqueFd writes(pipes[1]);
  OutputOf({"/bin/sh", {"-c", "echo from the child >&4"}, {}, {reads.get(), writes.get()}});
  char text[64] = {};
  EXPECT_EQ(read(reads.get(), text, sizeof(text)), 15);
  EXPECT_STREQ(text, "from the child\n");
}

TEST(ChildProcessTest, HasTheEnvironmentThatItIsGiven) {
  EXPECT_EQ(OutputOf({"/usr/bin/env", {}, {"A=1", "B=two words"}, {}}), "A=1\nB=two words\n");
  EXPECT_THAT(OutputOf({"/usr/bin/env", {}, {}, {}}), HasSubstr("PATH="));
}

TEST(ChildProcessTest, AMissingProgramIsAnError) {
  Result<ChildProcess> child = ChildProcess::Start({"/nonexistent/program", {}, {}, {}});
  ASSERT_FALSE(child.ok());
  EXPECT_STREQ(child.error().message(),
               "failed to start '/nonexistent/program': No such file or directory");
}

// Killing a process also kills its children, unless they have left its group.
TEST(ChildProcessTest, KillEndsTheGroup) {
  Result<ChildProcess> child =
      ChildProcess::Start({"/bin/sh", {"-c", "sleep 1000 & echo started; wait"}, {}, {}});
  ASSERT_TRUE(child.ok());
  char text[64];
  EXPECT_EQ(read(child->output(), text, sizeof(text)), 8);
  child->Kill();
  EXPECT_EQ(child->end_signal(), 0);
  EXPECT_EQ(child->Reap(), "ended by signal 9 (Killed)");
  EXPECT_EQ(child->end_signal(), SIGKILL);
  EXPECT_EQ(read(child->output(), text, sizeof(text)), 0);  // the group's pipes are closed
}

TEST(BackOffTest, LongerEachTimeUntilSomethingHolds) {
  constexpr uint64_t kSecond = BackOff::kSecond;
  BackOff back_off;
  uint64_t now = 0;
  const auto fail_after = [&](uint64_t seconds) {
    const uint64_t started = now;
    now += seconds * kSecond;
    return back_off.DelayAfterFailure(started, now) / kSecond;
  };
  EXPECT_EQ(fail_after(1), 0u);
  EXPECT_EQ(fail_after(1), 1u);
  EXPECT_EQ(fail_after(1), 2u);
  EXPECT_EQ(fail_after(1), 4u);
  for (int i = 0; i < 10; ++i) fail_after(1);
  EXPECT_EQ(fail_after(59), 60u);
  EXPECT_EQ(fail_after(60), 0u);
  EXPECT_EQ(fail_after(1), 1u);
}

TEST(OutputLinesTest, GivesWholeLines) {
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) { lines.emplace_back(line); };
  OutputLines output;
  output.Add("one\ntw", take);
  EXPECT_THAT(lines, ElementsAre("one"));
  output.Add("o\n\n  \nthree", take);
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  output.Flush(take);
  output.Flush(take);
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
}

TEST(OutputLinesTest, ALineWithoutEndComesInPieces) {
  std::vector<size_t> sizes;
  const auto take = [&](std::string_view line) { sizes.push_back(line.size()); };
  OutputLines output;
  output.Add(std::string(OutputLines::kLongest, 'x') + "\n", take);
  output.Add(std::string(2 * OutputLines::kLongest + 5, 'x') + "\n", take);
  EXPECT_THAT(sizes,
              ElementsAre(OutputLines::kLongest, OutputLines::kLongest, OutputLines::kLongest, 5u));
}

}  // namespace
}  // namespace nereid_backend
