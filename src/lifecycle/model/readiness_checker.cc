// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/readiness_checker.h"

#include <absl/strings/str_cat.h>

#include <new>
#include <utility>

#include "base/caught.h"
#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

// More than the number of models, each of which has at most one check waiting.
constexpr size_t kMaxWaitingChecks = 1 << 20;

absl::Status TooLate() {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(ReadinessChecker::kPatience).count();
  return absl::UnavailableError(absl::StrCat(
      "the backend has not answered TRITONBACKEND_ModelInstanceReady for ", seconds, " s"));
}

void Sooner(TimePoint at, std::optional<TimePoint>* next) {
  if (!next->has_value() || at < **next) *next = at;
}

}  // namespace

absl::Status Readiness::Probe() {
  const bool ready = ready_.load(std::memory_order_acquire);
  // The time is written before `watched_` is read. StillProbed() does both in the other order, so
  // that a probe is never missed.
  last_probe_.store(checker_->clock_->Now());
  if (!watched_.load() && !watched_.exchange(true)) checker_->Watch(shared_from_this());
  if (ready) return absl::OkStatus();
  MutexLock lock(&mu_);
  return answer_;
}

void Readiness::Set(absl::Status answer) {
  const bool ready = answer.ok();
  absl::Status before;
  {
    MutexLock lock(&mu_);
    before = std::exchange(answer_, answer);
    ready_.store(ready, std::memory_order_release);
  }
  if (!ready && before.ok()) {
    LOG_WARNING << "model " << name_ << " is not ready: " << answer.message();
  }
  if (ready && !before.ok()) LOG_INFO << "model " << name_ << " is ready again";
}

ReadinessChecker::~ReadinessChecker() {
  std::thread thread;
  std::unique_ptr<ThreadPool> executor;
  {
    MutexLock lock(&mu_);
    closed_ = true;
    thread.swap(thread_);
    executor.swap(executor_);
  }
  changed_.NotifyAll();
  answered_.NotifyAll();
  if (thread.joinable()) thread.join();
}

void ReadinessChecker::StartThreads() {
  if (executor_ == nullptr) {
    ThreadPoolOptions options;
    options.name = "readiness check";
    options.threads = kChecks;
    options.most_threads = kMostChecks;
    options.queue_limit = kMaxWaitingChecks;
    options.clock = clock_;
    executor_ = std::make_unique<ThreadPool>(std::move(options));
  }
  if (thread_.joinable()) return;
  thread_ = StartThread({.name = "readiness"}, [this] { Run(); });
}

std::shared_ptr<Readiness> ReadinessChecker::Add(std::string name, Readiness::Check check) {
  auto model = std::make_shared<Readiness>(this, std::move(name), std::move(check));
  MutexLock lock(&mu_);
  StartThreads();
  Entry& entry = entries_[model.get()];
  entry.model = model;
  StartCheck(clock_->Now(), &entry);
  changed_.NotifyAll();
  while (!closed_ && IsWaitedFor(model.get())) answered_.Wait(&mu_);
  return model;
}

bool ReadinessChecker::IsWaitedFor(const Readiness* model) const {
  const auto it = entries_.find(model);
  return it != entries_.end() && it->second.started.has_value() && !it->second.late;
}

void ReadinessChecker::Watch(std::shared_ptr<Readiness> model) {
  {
    MutexLock lock(&mu_);
    Entry& entry = entries_[model.get()];
    entry.model = std::move(model);
  }
  changed_.NotifyAll();
}

void ReadinessChecker::Run() {
  MutexLock lock(&mu_);
  while (!closed_) {
    const TimePoint now = clock_->Now();
    std::optional<TimePoint> next;
    for (auto it = entries_.begin(); it != entries_.end();) {
      it = Look(now, &it->second, &next) ? std::next(it) : entries_.erase(it);
    }
    clock_->Wait(&changed_, &mu_, next);
  }
}

bool ReadinessChecker::Look(TimePoint now, Entry* entry, std::optional<TimePoint>* next) {
  if (entry->started.has_value()) {
    const TimePoint too_late = *entry->started + kPatience;
    if (!entry->late && now >= too_late) {
      entry->late = true;
      entry->model->Set(TooLate());
      answered_.NotifyAll();
    }
    // If the check ends after the next one is due, RunCheck wakes this thread.
    if (now < entry->due) {
      Sooner(entry->due, next);
    } else if (!entry->late) {
      Sooner(too_late, next);
    }
    return true;
  }
  if (entry->gone) return false;
  if (now >= entry->due) {
    if (!StillProbed(now, entry->model.get())) return false;
    StartCheck(now, entry);
  }
  Sooner(entry->due, next);
  return true;
}

bool ReadinessChecker::StillProbed(TimePoint now, Readiness* model) {
  const auto forgotten = [&] { return now > model->last_probe_.load() + kAttention; };
  if (!forgotten()) return true;
  // A later probe calls Watch again. A probe that came just before is seen below.
  model->watched_.store(false);
  if (forgotten()) return false;
  model->watched_.store(true);
  return true;
}

void ReadinessChecker::StartCheck(TimePoint now, Entry* entry) {
  entry->due = now + kPeriod;
  const std::shared_ptr<Readiness>& model = entry->model;
  try {
    if (!executor_->TryRun([this, model] { RunCheck(model.get()); })) return;
  } catch (const std::bad_alloc&) {
    return;  // tried again at the next due time
  }
  entry->started = now;
  entry->late = false;
}

void ReadinessChecker::RunCheck(Readiness* model) {
  std::optional<absl::Status> answer;
  try {
    answer = model->check_();
  } catch (...) {
    answer = CaughtStatus();
  }
  bool is_due = false;
  {
    MutexLock lock(&mu_);
    Entry& entry = entries_.at(model);
    entry.started.reset();
    entry.gone = !answer.has_value();
    is_due = clock_->Now() >= entry.due;
    if (answer.has_value()) model->Set(*std::move(answer));
  }
  answered_.NotifyAll();
  if (is_due) changed_.NotifyAll();
}

}  // namespace nereid
