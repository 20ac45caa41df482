// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

// Written before the handlers are installed, and never again.
int g_pipe = -1;
pid_t g_process = 0;

// Runs on any thread at any point, so only async-signal-safe calls are allowed.
void HandleShutdown(int number) {
  // A child forked by a backend has this handler until it runs another program. Its signals do not
  // concern the server.
  if (getpid() != g_process) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  const int error = errno;
  const auto byte = static_cast<unsigned char>(number);
  const ssize_t ignored = write(g_pipe, &byte, 1);  // a full pipe has enough signals already
  (void)ignored;
  errno = error;
}

// A client that leaves during a write is an error of that write, not of the process.
void HandleBrokenPipe(int) {}

void CatchBy(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

ShutdownSignals::ShutdownSignals() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe for signals");
  }
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  pipe_ = ends[0];
  g_pipe = ends[1];
  g_process = getpid();
  Catch();
  StartThread({.name = "signals"}, [this] { Receive(); }).detach();
}

void ShutdownSignals::Catch() {
  CatchBy(SIGINT, &HandleShutdown);
  CatchBy(SIGTERM, &HandleShutdown);
  // A handler that does nothing, because ignored signals stay ignored in programs that a backend
  // starts.
  CatchBy(SIGPIPE, &HandleBrokenPipe);
}

void ShutdownSignals::Serving() {
  Catch();
  serving_.store(true);
}

void ShutdownSignals::OnHangup(std::function<void()> reopen) {
  {
    MutexLock lock(&hangup_mu_);
    reopen_ = std::move(reopen);
  }
  CatchBy(SIGHUP, &HandleShutdown);
}

int ShutdownSignals::Wait() {
  // Not the wait of std::atomic: ThreadSanitizer does not know it, and would keep the handler from
  // running on this thread, to which the system prefers to deliver signals.
  MutexLock lock(&mu_);
  while (received_ == 0) changed_.Wait(&mu_);
  return received_;
}

bool ShutdownSignals::Take(int number) {
  MutexLock lock(&mu_);
  if (received_ != 0) return false;
  received_ = number;
  changed_.NotifyAll();
  return true;
}

void ShutdownSignals::Receive() {
  while (true) {
    unsigned char byte = 0;
    const ssize_t count = read(pipe_, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    const int number = byte;
    if (number == SIGHUP) {
      // Under the lock, so that the function is no longer running when OnHangup returns.
      MutexLock lock(&hangup_mu_);
      if (reopen_) reopen_();
      continue;
    }
    if (!serving_.load()) {
      LOG_WARNING << "signal " << number << " received while starting: exiting";
      Log::Flush();
      _exit(128 + number);
    }
    if (Take(number)) continue;
    if (number == SIGINT) {
      LOG_WARNING << "second signal received: exiting without waiting any longer";
      Log::Flush();
      _exit(128 + number);
    }
    LOG_INFO << "second signal received: already stopping (SIGINT ends the process at once)";
  }
}

}  // namespace nereid
