// SPDX-License-Identifier: Apache-2.0
// TraceCollector: takes finished traces from any thread, and has one thread of its own write or
// send them, so that no I/O thread and no model waits for a disk or a network. Thread-safe.
//
// What waits is bounded, in bytes and in number; beyond that traces are dropped and counted. Shared
// by whoever still makes a trace.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_COLLECTOR_H_
#define NEREID_FRONTENDS_TRACING_TRACE_COLLECTOR_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/budget.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frontends/tracing/finished_trace.h"

namespace nereid {

// Where traces go. Used by the collector's thread only. Never throws.
class TraceOutput {
 public:
  virtual ~TraceOutput() = default;
  // How much of the collector's queue `trace` takes. Called on any thread.
  virtual size_t WeightOf(const FinishedTrace& /*trace*/) const { return 1; }
  virtual void Add(std::unique_ptr<FinishedTrace> trace) = 0;
  // `sampler` chooses no further requests, but traces of it may still be under way.
  virtual void Retire(std::shared_ptr<const TraceSampler> sampler) = 0;
  // Nothing waits at the moment.
  virtual void OnIdle() {}
  // When OnDue has to be called; none: never.
  virtual std::optional<TimePoint> due() const { return std::nullopt; }
  virtual void OnDue() {}
  // Writes or sends what is left. Nothing follows.
  virtual void Finish() = 0;

  // Traces that could not be written or sent, since the last call.
  uint64_t TakeLost() { return std::exchange(lost_, 0); }

 protected:
  // Whoever calls it has told the log why.
  void CountLost(uint64_t traces) { lost_ += traces; }

 private:
  uint64_t lost_ = 0;
};

class TraceCollector {
 public:
  // Bytes of events that may be held at a time, and the weight of traces that may wait.
  struct Limits {
    uint64_t bytes = 64 << 20;
    size_t waiting = 65536;
  };

  // Starts the thread. `clock` outlives the collector.
  TraceCollector(std::unique_ptr<TraceOutput> output, Clock* clock, Limits limits);
  ~TraceCollector();
  TraceCollector(const TraceCollector&) = delete;
  TraceCollector& operator=(const TraceCollector&) = delete;

  Clock* clock() const { return clock_; }
  // Pays for events while they are collected and until they are written.
  Budget* memory() { return &memory_; }

  // Any thread; does not block.
  void Submit(std::unique_ptr<FinishedTrace> trace) ABSL_LOCKS_EXCLUDED(mu_);
  void Retire(std::shared_ptr<const TraceSampler> sampler) ABSL_LOCKS_EXCLUDED(mu_);
  // Traces that were dropped so far.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  // Writes or sends all that was submitted, and ends the thread. False if that is not done by
  // `deadline` of the clock; then the thread goes on, and another call waits again. What comes
  // later is dropped.
  bool End(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // One of the two.
  struct Job {
    std::unique_ptr<FinishedTrace> trace;
    std::shared_ptr<const TraceSampler> retired;
    size_t weight = 0;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // The next job; none when it is time for something else. Waits for it.
  std::optional<Job> Next(bool* end) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether there are jobs.
  bool Waits() ABSL_LOCKS_EXCLUDED(mu_);
  void CountDropped();

  Budget memory_;
  const std::unique_ptr<TraceOutput> output_;
  Clock* const clock_;
  const Limits limits_;
  std::atomic<uint64_t> dropped_{0};
  uint64_t warned_of_ = 0;                 // of the thread
  std::optional<TimePoint> last_warning_;  // of the thread

  Mutex mu_;
  CondVar changed_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mu_);
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;  // weight of jobs_
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_COLLECTOR_H_
