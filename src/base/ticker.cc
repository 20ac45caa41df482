// SPDX-License-Identifier: Apache-2.0
#include "base/ticker.h"

#include <exception>
#include <utility>

#include "base/background_thread.h"
#include "base/crash_context.h"
#include "base/log.h"

namespace nereid {

Ticker::Ticker(Clock* clock, Duration interval, std::string task, std::function<void()> tick)
    : clock_(clock),
      interval_(interval),
      task_(std::move(task)),
      tick_(std::move(tick)),
      thread_([this] { Run(); }) {}

Ticker::~Ticker() {
  {
    MutexLock lock(&mu_);
    stopped_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Ticker::Run() {
  BecomeBackgroundThread();
  PrepareThreadForCrash();
  while (true) {
    {
      MutexLock lock(&mu_);
      const TimePoint next = clock_->Now() + interval_;
      while (!stopped_ && clock_->Now() < next) clock_->Wait(&changed_, &mu_, next);
      if (stopped_) {
        ended_ = true;
        changed_.NotifyAll();
        return;
      }
    }
    try {
      tick_();
    } catch (const std::exception& e) {  // no memory: the next call tries again
      LOG_ERROR << "failed to " << task_ << ": " << e.what();
    }
  }
}

bool Ticker::Stop(TimePoint deadline) {
  MutexLock lock(&mu_);
  stopped_ = true;
  changed_.NotifyAll();
  while (!ended_ && clock_->Now() < deadline) clock_->Wait(&changed_, &mu_, deadline);
  return ended_;
}

}  // namespace nereid
