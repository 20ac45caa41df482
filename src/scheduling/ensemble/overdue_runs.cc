#include "scheduling/ensemble/overdue_runs.h"

#include <utility>

#include "scheduling/ensemble/ensemble_run.h"

namespace nereid {

OverdueRuns::OverdueRuns(Timer* timer, Clock* clock) : clock_(clock) {
  if (timer != nullptr) alarm_ = std::make_unique<Timer::Alarm>(timer, [this] { Tell(); });
}

OverdueRuns::Place OverdueRuns::Add(EnsembleRun* run, TimePoint at) {
  MutexLock lock(&mu_);
  const Place place = runs_.emplace(at, run);
  SetAlarm();
  return place;
}

void OverdueRuns::Move(Place place, TimePoint at) noexcept {
  MutexLock lock(&mu_);
  Runs::node_type node = runs_.extract(place);
  node.key() = at;
  runs_.insert(std::move(node));  // `place` stays valid
  SetAlarm();
}

void OverdueRuns::Remove(Place place) noexcept {
  MutexLock lock(&mu_);
  runs_.erase(place);
}

void OverdueRuns::Stop() {
  std::unique_ptr<Timer::Alarm> alarm;
  {
    MutexLock lock(&mu_);
    alarm = std::move(alarm_);
  }
}

void OverdueRuns::SetAlarm() noexcept {
  if (alarm_ != nullptr && !runs_.empty()) alarm_->Set(runs_.begin()->first);
}

std::shared_ptr<EnsembleRun> OverdueRuns::NextDue() {
  MutexLock lock(&mu_);
  if (runs_.empty()) return nullptr;
  if (runs_.begin()->first > clock_->Now()) {
    SetAlarm();
    return nullptr;
  }
  // The run exists: it removes itself before it ends.
  return runs_.begin()->second->shared_from_this();
}

void OverdueRuns::Tell() {
  while (const std::shared_ptr<EnsembleRun> run = NextDue()) run->StartOverdue();
}

}  // namespace nereid
