// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/process/process_keeper.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>

#include "backends/sdk/batch.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

void Drain(const nereid_ipc::UniqueFd& event) {
  uint64_t count = 0;
  while (read(event.get(), &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

// A process that fails by itself is ended by other signals than these.
bool IsSentByOthers(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

}  // namespace

Error ProcessKeeper::Begin() {
  wake_ = nereid_ipc::UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, "no further descriptor can be had");
  }
  thread_ = std::thread([this] { Loop(); });
  return Error();
}

Error ProcessKeeper::AwaitFirst() {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return state_ != State::kStarting; });
  return ever_ready_ ? Error() : std::move(start_error_);
}

void ProcessKeeper::Stop() {
  {
    const std::lock_guard lock(mu_);
    stopping_ = true;
    changed_.notify_all();
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

void ProcessKeeper::Wake() {
  const uint64_t one = 1;
  if (wake_.valid() && write(wake_.get(), &one, sizeof(one)) < 0) {
    NB_LOG_ERROR("failed to wake the thread that keeps ", what_);
  }
}

void ProcessKeeper::ExpectEnd() {
  const std::lock_guard lock(mu_);
  end_expected_ = true;
}

bool ProcessKeeper::stopping() {
  const std::lock_guard lock(mu_);
  return stopping_;
}

void ProcessKeeper::Loop() {
  pthread_setname_np(pthread_self(), "process-keeper");
  uint64_t started = 0;
  do {
    started = NowNs();
    const Error lived = Guarded("keeping a process", [&] {
      LiveOnce();
      return Error();
    });
    if (!lived.ok()) {
      const std::lock_guard lock(mu_);
      last_end_ = lived.message();
    }
  } while (PrepareRestart(started));
}

// Waits until the next process may start. False if no other process is to be started.
bool ProcessKeeper::PrepareRestart(uint64_t started) {
  std::unique_lock lock(mu_);
  if (!ever_ready_ && start_error_.ok()) start_error_ = EndedError(last_end_);
  if (stopping_ || end_expected_ || !ever_ready_) {
    state_ = State::kOver;
    changed_.notify_all();
    return false;
  }
  const uint64_t now = NowNs();
  const uint64_t delay = back_off_.DelayAfterFailure(started, now);
  restart_at_ = now + delay;
  state_ = delay > 0 ? State::kWaiting : State::kStarting;
  changed_.notify_all();
  NB_LOG_ERROR(what_, " ", last_end_, "; it is started again in ", delay / BackOff::kSecond, " s");
  changed_.wait_for(lock, std::chrono::nanoseconds(delay), [&] { return stopping_; });
  if (stopping_) return false;
  state_ = State::kStarting;
  return true;
}

void ProcessKeeper::LiveOnce() {
  {
    const std::lock_guard lock(mu_);
    last_end_.clear();
  }
  Result<ChildProcess> child = StartChild();
  if (!child.ok()) {
    const std::lock_guard lock(mu_);
    last_end_ = StrCat("could not be started: ", child.error().message());
    return;
  }
  const nereid_ipc::UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, child->pid(), 0)));
  // Exceptions are caught, so that the process is always reaped and waiting threads are notified.
  const Error served = Guarded("serving a process", [&] {
    Listen(*child, process.get());
    return Error();
  });
  if (!served.ok()) NB_LOG_ERROR(what_, " is ended: ", served.message());
  std::string how = "ended";
  killed_by_others_ = false;
  const Error ended = Guarded("ending a process", [&] {
    OnEnding();
    how = Explain(AwaitEnd(&*child, process.get()));
    return Error();
  });
  if (!ended.ok()) NB_LOG_ERROR(what_, ": ", ended.message());
  {
    const std::lock_guard lock(mu_);
    // The process's own report of a failed start is more useful than how it ended afterwards.
    if (last_end_.empty()) last_end_ = how;
    // From now on callers wait for the decision of PrepareRestart.
    state_ = State::kStarting;
  }
  OnEnded(how);
}

bool ProcessKeeper::ReadOutput(const ChildProcess& child) {
  char buffer[4096];
  const ssize_t got = read(child.output(), buffer, sizeof(buffer));
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) return false;
  OnOutput({buffer, static_cast<size_t>(got)});
  return true;
}

// Returns when the process has ended or is to be ended. The output may end later than the process,
// because the process's children may still write.
void ProcessKeeper::Listen(const ChildProcess& child, int process) {
  pollfd watched[] = {{child.output(), POLLIN, 0},
                      {heard(), POLLIN, 0},
                      {wake_.get(), POLLIN, 0},
                      {process, POLLIN, 0}};
  while (!stopping()) {
    const int ready = poll(watched, std::size(watched), timeout_ms());
    if (ready < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (ready == 0 && !OnTimeout()) return;
    if (ready == 0) continue;
    // Stop sets its flag first, so it is seen by the next check.
    if (watched[2].revents != 0) Drain(wake_);
    if (watched[1].revents != 0 && !OnReadable()) return;
    if (watched[3].revents != 0) return;
    if (watched[0].revents != 0 && !ReadOutput(child)) {
      // A program may close its output and continue. If there is no descriptor for the process (old
      // kernels), the end of the output counts as the end of the process.
      if (process < 0) return;
      watched[0].fd = -1;
    }
  }
}

std::string ProcessKeeper::AwaitEnd(ChildProcess* child, int process) {
  const uint64_t deadline = NowNs() + grace_ns();
  pollfd watched[] = {{child->output(), POLLIN, 0}, {process, POLLIN, 0}};
  for (uint64_t now = NowNs(); now < deadline; now = NowNs()) {
    const int left_ms = static_cast<int>((deadline - now) / 1'000'000) + 1;
    if (poll(watched, std::size(watched), left_ms) <= 0) continue;
    if (watched[0].revents != 0 && !ReadOutput(*child)) watched[0].fd = -1;
    // Without a descriptor for the process (old kernels), the end of its output counts as its end.
    if (watched[1].revents != 0 || (process < 0 && watched[0].fd < 0)) break;
  }
  // Reads its last output, but no more than a pipe holds, since other processes may continue
  // writing.
  pollfd output{watched[0].fd, POLLIN, 0};
  for (int i = 0; i < 64 && poll(&output, 1, 0) > 0 && ReadOutput(*child); ++i) {
  }
  pollfd ended{process, POLLIN, 0};
  const bool alive = process >= 0 && poll(&ended, 1, 0) == 0;
  child->Kill();  // does nothing if it has already ended
  std::string how = child->Reap();
  killed_by_others_ = !alive && IsSentByOthers(child->end_signal());
  return how;
}

Error ProcessKeeper::EndedError(std::string_view how) const {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(what_, " ", how));
}

void ProcessKeeper::BecomeReady() {
  ever_ready_ = true;
  state_ = State::kReady;
  changed_.notify_all();
}

void ProcessKeeper::RefuseStart(Error why) {
  last_end_ = StrCat("could not load the model: ", why.message());
  if (!ever_ready_) start_error_ = std::move(why);
}

Error ProcessKeeper::WaitingError() const {
  const uint64_t now = NowNs();
  const uint64_t left = restart_at_ > now ? restart_at_ - now : 0;
  return EndedError(
      StrCat(last_end_, " and is started again in ", left / BackOff::kSecond + 1, " s"));
}

Error ProcessKeeper::Ready() {
  const std::lock_guard lock(mu_);
  return state_ == State::kReady || state_ == State::kStarting ? Error() : WaitingError();
}

}  // namespace nereid_backend
