// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_collector.h"

#include <new>
#include <utility>

#include "base/log.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

// The log says this often that traces were dropped.
constexpr Duration kWarningInterval = std::chrono::seconds(10);

}  // namespace

TraceCollector::TraceCollector(std::unique_ptr<TraceOutput> output, Clock* clock, Limits limits)
    : memory_("bytes of traces", limits.bytes),
      output_(std::move(output)),
      clock_(clock),
      limits_(limits),
      thread_(StartThread({.name = "traces", .background = true}, [this] { Run(); })) {}

TraceCollector::~TraceCollector() {
  {
    MutexLock lock(&mu_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void TraceCollector::Submit(std::unique_ptr<FinishedTrace> trace) {
  const size_t weight = output_->WeightOf(*trace);
  const std::shared_ptr<const TraceSampler> sampler = trace->sampler;
  bool taken = false;
  try {
    MutexLock lock(&mu_);
    if (!ending_ && waiting_ + weight <= limits_.waiting) {
      jobs_.push_back({std::move(trace), nullptr, weight});
      waiting_ += weight;
      taken = true;
      changed_.NotifyAll();
    }
  } catch (const std::bad_alloc&) {
    taken = false;
  }
  if (taken) return;
  sampler->CountLost();
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

void TraceCollector::Retire(std::shared_ptr<const TraceSampler> sampler) {
  MutexLock lock(&mu_);
  if (ending_) return;
  jobs_.push_back({nullptr, std::move(sampler), 0});
  changed_.NotifyAll();
}

bool TraceCollector::End(TimePoint deadline) {
  MutexLock lock(&mu_);
  ending_ = true;
  changed_.NotifyAll();
  while (!ended_ && clock_->Now() < deadline) clock_->Wait(&changed_, &mu_, deadline);
  return ended_;
}

bool TraceCollector::Waits() {
  MutexLock lock(&mu_);
  return !jobs_.empty();
}

std::optional<TraceCollector::Job> TraceCollector::Next(bool* end) {
  MutexLock lock(&mu_);
  if (jobs_.empty() && !ending_) {
    const std::optional<TimePoint> due = output_->due();
    if (!due.has_value() || clock_->Now() < *due) clock_->Wait(&changed_, &mu_, due);
  }
  if (jobs_.empty()) {
    *end = ending_;
    return std::nullopt;
  }
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  waiting_ -= job.weight;
  return job;
}

void TraceCollector::Run() {
  bool end = false;
  bool busy = false;
  while (!end) {
    if (std::optional<Job> job = Next(&end)) {
      if (job->trace != nullptr) output_->Add(std::move(job->trace));
      if (job->retired != nullptr) output_->Retire(std::move(job->retired));
      busy = true;
    }
    const std::optional<TimePoint> due = output_->due();
    if (due.has_value() && *due <= clock_->Now()) output_->OnDue();
    CountDropped();
    if (busy && !Waits()) {
      output_->OnIdle();
      busy = false;
    }
  }
  output_->Finish();
  CountDropped();
  MutexLock lock(&mu_);
  ended_ = true;
  changed_.NotifyAll();
}

void TraceCollector::CountDropped() {
  const uint64_t lost = output_->TakeLost();
  dropped_.fetch_add(lost, std::memory_order_relaxed);
  warned_of_ += lost;
  const uint64_t dropped = this->dropped();
  if (dropped == warned_of_) return;
  const TimePoint now = clock_->Now();
  if (last_warning_.has_value() && now - *last_warning_ < kWarningInterval) return;
  LOG_WARNING << (dropped - warned_of_)
              << " traces were dropped: they come faster than they can be written";
  warned_of_ = dropped;
  last_warning_ = now;
}

}  // namespace nereid
