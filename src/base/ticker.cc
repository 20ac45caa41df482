// SPDX-License-Identifier: Apache-2.0
#include "base/ticker.h"

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {

Ticker::Ticker(Clock* clock, Duration interval, std::string task, std::function<void()> tick)
    : clock_(clock),
      interval_(interval),
      task_(std::move(task)),
      tick_(std::move(tick)),
      thread_(StartThread({.background = true}, [this] { Run(); })) {}

Ticker::~Ticker() {
  {
    MutexLock lock(&mu_);
    stopped_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Ticker::Run() {
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
