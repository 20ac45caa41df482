// SPDX-License-Identifier: Apache-2.0
// Behaviour environment: does what backends do under Triton and expect to work. It uses most
// of the default stack of a thread, starts processes that signals can end, and changes the C++
// locale of the process. docs/adr/0013 has the list.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <locale>
#include <string>

#include "backends/testing/behaviours.h"

extern char** environ;

namespace nereid_backend {
namespace {

// Out of the 8 MiB that a thread has by default.
constexpr size_t kStackUsed = size_t{6} << 20;
constexpr size_t kFrame = size_t{64} << 10;

__attribute__((noinline)) size_t UseStack(size_t left) {
  volatile char frame[kFrame];
  for (size_t i = 0; i < kFrame; i += 4096) frame[i] = 1;
  const size_t deeper = left > kFrame ? UseStack(left - kFrame) : 0;
  return deeper + static_cast<size_t>(frame[0]);  // read after the call, which prevents a tail call
}

// An error unless signal `number` ended `child`.
Error CheckEndedBy(pid_t child, int number) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    return Error::Internal("testing backend: a process that it started has gone");
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == number) return Error();
  return Error::Internal(StrCat("testing backend: signal ", number, " does not end a process"));
}

// A forked copy of this process sends `number` to itself.
Error CheckCopyEndsBy(int number) {
  const pid_t child = fork();
  if (child < 0) return Error::Internal("testing backend: cannot fork");
  if (child > 0) return CheckEndedBy(child, number);
  kill(getpid(), number);
  _exit(7);
}

// A new program sends `number` to itself. It inherits the blocked and ignored signals of this
// thread.
Error CheckProgramEndsBy(int number) {
  std::string shell = "sh";
  std::string option = "-c";
  std::string command = "kill -" + std::to_string(number) + " $$; exit 7";
  char* const arguments[] = {shell.data(), option.data(), command.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ) != 0) {
    return Error::Internal("testing backend: cannot start a program");
  }
  return CheckEndedBy(child, number);
}

// Formats 1234567 as 1.23.45.67.
class Grouping : public std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\2"; }
};

Error UseEnvironment() {
  if (UseStack(kStackUsed) == 0) return Error::Internal("testing backend: no stack");
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGUSR1}) {
    NB_RETURN_IF_ERROR(CheckProgramEndsBy(number));
  }
  for (const int number : {SIGINT, SIGTERM}) NB_RETURN_IF_ERROR(CheckCopyEndsBy(number));
  std::locale::global(std::locale(std::locale::classic(), new Grouping));
  return Error();
}

}  // namespace

TRITONSERVER_Error* ExecuteEnvironment(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                       uint32_t count) {
  if (Error error = UseEnvironment(); !error.ok()) return error.release();
  for (uint32_t i = 0; i < count; ++i) {
    EchoAndRelease(instance.model(), instance.handle(), requests[i]);
  }
  return nullptr;
}

}  // namespace nereid_backend
