#include "backends/python/worker/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

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

}  // namespace

void BindToServer(int server_pid, const std::string& title) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server_pid) _exit(1);
  prctl(PR_SET_NAME, title.c_str());
  for (const int fd : {kControlFd, kInFd, kOutFd, kDoorbellFd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  pthread_atfork(BeforeFork, nullptr, InChild);
}

void BindForkedChild() {
  if (!main_thread_forks) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != forking_process) _exit(1);  // it ended before the kernel knew of the wish
}

bool InForkedChild() { return in_forked_child.load(std::memory_order_relaxed); }

}  // namespace nereid_python::worker
