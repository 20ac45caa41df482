#include "lifecycle/repository_poller.h"

#include <exception>
#include <utility>

#include "base/background_thread.h"
#include "base/crash_context.h"
#include "base/log.h"

namespace nereid {

RepositoryPoller::RepositoryPoller(Clock* clock, Duration interval, std::function<void()> poll)
    : clock_(clock), interval_(interval), poll_(std::move(poll)), thread_([this] { Run(); }) {}

RepositoryPoller::~RepositoryPoller() {
  {
    MutexLock lock(&mu_);
    stopped_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void RepositoryPoller::Run() {
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
      poll_();
    } catch (const std::exception& e) {  // no memory: tries again at the next poll
      LOG_ERROR << "failed to poll: " << e.what();
    }
  }
}

bool RepositoryPoller::Stop(TimePoint deadline) {
  MutexLock lock(&mu_);
  stopped_ = true;
  changed_.NotifyAll();
  while (!ended_ && clock_->Now() < deadline) clock_->Wait(&changed_, &mu_, deadline);
  return ended_;
}

}  // namespace nereid
