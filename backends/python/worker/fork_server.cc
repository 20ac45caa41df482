// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/fork_server.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "backends/python/ipc/control.h"
#include "backends/python/ipc/fork_message.h"
#include "backends/python/worker/process.h"
#include "backends/python/worker/python_api.h"

namespace nereid_python::worker {
namespace {

using Descriptors = std::array<int, kForkDescriptors>;

constexpr int kNone = -1;
// Above all numbers that a forked process gives to its descriptors.
constexpr int kFirstFree = 64;

struct Message {
  std::string text;
  Descriptors descriptors;
};

void CloseAll(const Descriptors& descriptors) {
  for (const int fd : descriptors) {
    if (fd != kNone) close(fd);
  }
}

// False at the end of the connection.
bool Receive(Message* message) {
  char text[kLongestForkMessage];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Descriptors))];
  iovec piece{text, sizeof(text)};
  msghdr received{};
  received.msg_iov = &piece;
  received.msg_iovlen = 1;
  received.msg_control = control;
  received.msg_controllen = sizeof(control);
  ssize_t got = 0;
  {
    const WithoutGil released;
    do {
      got = recvmsg(kForkServerFd, &received, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
  }
  if (got <= 0) return false;
  message->text.assign(text, (received.msg_flags & MSG_TRUNC) != 0 ? 0 : static_cast<size_t>(got));
  message->descriptors.fill(kNone);
  const cmsghdr* const head = CMSG_FIRSTHDR(&received);
  if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
    // Fewer come where this process may have no more; they are closed again.
    const size_t bytes = std::min<size_t>(head->cmsg_len - CMSG_LEN(0), sizeof(Descriptors));
    std::memcpy(message->descriptors.data(), CMSG_DATA(head), bytes);
  }
  return true;
}

bool IsWhole(const Message& message) {
  return !message.text.empty() && message.text.back() == '\0' &&
         message.descriptors.back() != kNone;
}

// A fork whose child belongs to this process's parent, as fork() cannot: the server waits for it,
// and it ends with the server's thread and not with this process. Handlers of pthread_atfork do not
// run; they matter for locks and threads of others, and this is the only thread. Otherwise it does
// what the C library's fork does.
pid_t ForkForParent() {
  void* robust_list = nullptr;
  size_t robust_size = 0;
  syscall(SYS_get_robust_list, 0, &robust_list, &robust_size);
  // Where the C library keeps the number of this thread; not every kernel tells.
  int* number = nullptr;
  unsigned long flags = CLONE_PARENT | SIGCHLD;
  if (prctl(PR_GET_TID_ADDRESS, &number) == 0 && number != nullptr) {
    flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  }
  // The last two arguments are the address of the number and the thread's storage, whose order
  // depends on the processor; the latter is not looked at.
  const auto pid = static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, number, number));
  if (pid == 0 && robust_list != nullptr) syscall(SYS_set_robust_list, robust_list, robust_size);
  return pid;
}

bool WriteNumber(int pipe, pid_t number) {
  return write(pipe, &number, sizeof(number)) == sizeof(number);
}

// Gives the descriptors the numbers that a process has which was started as a program. Returns that
// of the pipe for the process's own number.
int TakeDescriptors(const Descriptors& given) {
  Descriptors high;
  for (size_t i = 0; i < given.size(); ++i) high[i] = fcntl(given[i], F_DUPFD_CLOEXEC, kFirstFree);
  CloseAll(given);
  dup2(high[0], STDOUT_FILENO);
  dup2(high[0], STDERR_FILENO);
  for (size_t i = 2; i < high.size(); ++i) dup2(high[i], kControlFd + static_cast<int>(i) - 2);
  const int answer = high[1];
  high[1] = kNone;
  CloseAll(high);
  return answer;
}

// In the forked process. It ends if the server does not want it any more.
void BecomeProcess(const Message& message, Birth* birth) {
  setpgid(0, 0);
  const int answer = TakeDescriptors(message.descriptors);
  if (!WriteNumber(answer, -getpid())) _exit(1);
  close(answer);
  std::string_view rest = message.text;
  const auto next = [&rest] {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(entry.size() + 1);
    return std::string(entry);
  };
  birth->title = next();
  while (!rest.empty()) birth->variables.push_back(next());
  ShowTitle(birth->title);
}

}  // namespace

bool ReportPrepared() {
  signal(SIGPIPE, SIG_IGN);  // as Python does
  fcntl(kForkServerFd, F_SETFD, FD_CLOEXEC);
  const char ready = 'r';
  return send(kForkServerFd, &ready, sizeof(ready), MSG_NOSIGNAL) == sizeof(ready);
}

bool AwaitBirth(Birth* birth) {
  Message message;
  while (Receive(&message)) {
    if (IsWhole(message)) {
      PyOS_BeforeFork();
      const pid_t pid = ForkForParent();
      if (pid == 0) {
        PyOS_AfterFork_Child();
        BecomeProcess(message, birth);
        return true;
      }
      PyOS_AfterFork_Parent();
      // Without a child, the server sees that the pipe ends.
      if (pid > 0) WriteNumber(message.descriptors[1], pid);
    }
    CloseAll(message.descriptors);
  }
  return false;
}

}  // namespace nereid_python::worker
