// SPDX-License-Identifier: Apache-2.0
#include "child_process/child_process.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(ChildProcess, RunsWithItsRedirections) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto child = ChildProcess::Start({"/bin/sh", "-c", "echo $0 >&5; read line", "word"},
                                   {{ends[1], 5}, {ends[0], 0}});
  ASSERT_TRUE(child.ok()) << child.status();
  // It reads what it has written, and ends. The wait leaves its status to Ended.
  siginfo_t end = {};
  ASSERT_EQ(waitid(P_ALL, 0, &end, WEXITED | WNOWAIT), 0);
  const std::optional<int> ended = (*child)->Ended();
  ASSERT_TRUE(ended.has_value());
  const int status = *ended;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ((*child)->Kill(), status);
  close(ends[0]);
  close(ends[1]);
}

TEST(ChildProcess, IsKilledWithItsGroup) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto child = ChildProcess::Start({"/bin/sh", "-c", "sleep 1000 & echo; wait"}, {{ends[1], 1}});
  ASSERT_TRUE(child.ok()) << child.status();
  // A process has no memory in the moment in which it becomes its program.
  char line = 0;
  ASSERT_EQ(read(ends[0], &line, 1), 1);
  EXPECT_FALSE((*child)->Ended().has_value());
  EXPECT_GT((*child)->MemoryBytes(), 100'000u);
  EXPECT_THAT((*child)->Processes(), SizeIs(2));
  const int status = (*child)->Kill();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  close(ends[0]);
  close(ends[1]);
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
  EXPECT_THAT(ChildProcess::Start({"/nowhere/program"}, {}).status().message(),
              HasSubstr("cannot start '/nowhere/program': No such file"));
}

}  // namespace
}  // namespace nereid
