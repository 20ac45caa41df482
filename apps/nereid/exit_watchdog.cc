// SPDX-License-Identifier: Apache-2.0
#include "exit_watchdog.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

constexpr int kExitStatus = 1;
constexpr unsigned kSecondsForLastWords = 1;

void ExitAtOnce(int) { _exit(kExitStatus); }

}  // namespace

void EndProcess(const std::function<void()>& last_words) {
  signal(SIGALRM, &ExitAtOnce);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(kSecondsForLastWords);
  last_words();
  Log::Flush();
  _exit(kExitStatus);
}

ExitWatchdog::ExitWatchdog(Clock* clock, Ender end)
    : clock_(clock),
      end_(std::move(end)),
      thread_(StartThread({.name = "exit watchdog"}, [this] { Run(); })) {}

ExitWatchdog::~ExitWatchdog() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void ExitWatchdog::Arm(TimePoint deadline, Reporter reporter) {
  {
    MutexLock lock(&mu_);
    deadline_ = deadline;
    reporter_ = std::move(reporter);
  }
  changed_.NotifyAll();
}

void ExitWatchdog::Report(Reporter reporter) {
  MutexLock lock(&mu_);
  while (ending_) changed_.Wait(&mu_);
  reporter_ = std::move(reporter);
}

void ExitWatchdog::Run() {
  Reporter reporter;
  {
    MutexLock lock(&mu_);
    while (!closed_ && clock_->Now() < deadline_) {
      if (deadline_ == TimePoint::max()) {
        changed_.Wait(&mu_);
      } else {
        clock_->Wait(&changed_, &mu_, deadline_);
      }
    }
    if (closed_) return;
    reporter = reporter_;
    ending_ = true;
  }
  end_([&] {
    LOG_ERROR << "the exit time-out has passed and something hangs: exiting all the same";
    for (const std::string& text : reporter()) LOG_ERROR << text;
  });
  MutexLock lock(&mu_);
  ending_ = false;
  changed_.NotifyAll();
}

}  // namespace nereid
