// SPDX-License-Identifier: Apache-2.0
#include "child_process/child_process.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "process_stat/process_stat.h"

namespace nereid {
namespace {

// In the child, between fork and exec: only what is safe there. Returns if it fails.
void Become(char** arguments, const std::vector<ChildProcess::Redirection>& redirections,
            pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it ended before the kernel knew of the wish
  for (const ChildProcess::Redirection& redirection : redirections) {
    if (dup2(redirection.fd, redirection.as) < 0) return;
  }
  execv(arguments[0], arguments);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& command, const std::vector<Redirection>& redirections) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Tells whether exec has failed: it closes the pipe.
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("no pipe: ", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  int error = errno;
  if (pid == 0) {
    Become(arguments.data(), redirections, parent);
    error = errno;
    const ssize_t told = write(failure[1], &error, sizeof error);
    _exit(told == sizeof error ? 127 : 126);
  }
  close(failure[1]);
  if (pid > 0) {
    setpgid(pid, pid);  // whoever is first: the group exists when this function returns
    const ssize_t got = read(failure[0], &error, sizeof error);
    if (got <= 0) error = 0;
  }
  close(failure[0]);
  if (error == 0) return std::unique_ptr<ChildProcess>(new ChildProcess(pid));
  if (pid > 0) waitpid(pid, nullptr, 0);
  return absl::InternalError(
      absl::StrCat("cannot start '", command[0], "': ", std::strerror(error)));
}

ChildProcess::~ChildProcess() { Kill(); }

std::optional<int> ChildProcess::Ended() {
  int status = 0;
  if (!status_.has_value() && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

void ChildProcess::Signal(int number) {
  if (!Ended().has_value()) kill(pid_, number);
}

int ChildProcess::Kill() {
  kill(-pid_, SIGKILL);
  int status = 0;
  if (!status_.has_value() && waitpid(pid_, &status, 0) == pid_) status_ = status;
  return status_.value_or(0);
}

std::vector<int> ChildProcess::Processes() const {
  std::vector<int> processes;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry->path().filename().string(), &pid)) continue;
    const std::optional<ProcessStat> stat = ProcessStat::Of(pid);
    if (stat.has_value() && stat->group == pid_) processes.push_back(pid);
  }
  return processes;
}

uint64_t ChildProcess::MemoryBytes() const {
  uint64_t pages = 0;
  for (const int pid : Processes()) {
    pages += ProcessStat::Of(pid).value_or(ProcessStat()).resident_pages;
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace nereid
