// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>

#include "backends/python/ipc/control.h"

namespace nereid_python::worker {
namespace {

std::atomic<bool> in_forked_child{false};
// Written by the thread that forks, and read by the same in the child.
thread_local pid_t forking_process = 0;
thread_local bool main_thread_forks = false;

void BeforeFork() {
  forking_process = getpid();
  main_thread_forks = syscall(SYS_gettid) == forking_process;
}
void InChild() { in_forked_child.store(true); }

// Where the kernel looks for the words of the command line; false if that is not known.
bool FindWords(char** begin, char** end) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The second field, the program's name in brackets, may hold blanks.
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  constexpr int kBegin = 48;
  std::string skipped;
  for (int field = 3; field < kBegin; ++field) fields >> skipped;
  uintptr_t from = 0;
  uintptr_t to = 0;
  if (!(fields >> from >> to) || from == 0 || to <= from) return false;
  *begin = reinterpret_cast<char*>(from);
  *end = reinterpret_cast<char*>(to);
  return true;
}

}  // namespace

void EndWithServer(int server_pid) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server_pid) _exit(1);
}

// The words are those of the prepared process: interpreter, program, server, --fork-server, blanks.
void ShowTitle(const std::string& title) {
  constexpr int kWordsBefore = 3;
  char* at = nullptr;
  char* end = nullptr;
  if (!FindWords(&at, &end)) return;
  for (int word = 0; word < kWordsBefore && at < end; ++word) {
    at = std::find(at, end, '\0');
    if (at < end) ++at;
  }
  if (static_cast<size_t>(end - at) <= title.size()) return;
  std::memset(at, 0, static_cast<size_t>(end - at));
  std::memcpy(at, title.data(), title.size());
}

void BindToServer(int server_pid, const std::string& title) {
  EndWithServer(server_pid);
  prctl(PR_SET_NAME, title.c_str());
  for (const int fd : {kControlFd, kInFd, kOutFd, kDoorbellFd, kFilesFd}) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  pthread_atfork(BeforeFork, nullptr, InChild);
}

void BindForkedChild() {
  if (!main_thread_forks) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != forking_process) _exit(1);  // it ended before the kernel knew of the wish
}

bool InForkedChild() { return in_forked_child.load(std::memory_order_relaxed); }

}  // namespace nereid_python::worker
