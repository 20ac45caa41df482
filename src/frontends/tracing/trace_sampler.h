// SPDX-License-Identifier: Apache-2.0
// TraceSampler: chooses the requests that are traced, by the settings of one model or of all
// models. Thread-safe; shared by the settings and by the traces that it has chosen.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_SAMPLER_H_
#define NEREID_FRONTENDS_TRACING_TRACE_SAMPLER_H_

#include <atomic>
#include <cstdint>

#include "frontends/tracing/trace_settings.h"

namespace nereid {

class TraceSampler {
 public:
  explicit TraceSampler(const TraceSettings& settings)
      : settings_(settings), left_(settings.count) {}
  TraceSampler(const TraceSampler&) = delete;
  TraceSampler& operator=(const TraceSampler&) = delete;

  // Whether the next request is traced: each rate-th is, until the count is used up. A `forced` one
  // is traced whatever the rate, and is not counted.
  bool Sample(bool forced) {
    if (settings_.level == 0) return false;
    const bool hit = settings_.rate != 0 &&
                     (seen_.fetch_add(1, std::memory_order_relaxed) + 1) % settings_.rate == 0;
    if (!forced && !(hit && TakeOne())) return false;
    created_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // The count is what is left of it.
  TraceSettings settings() const {
    TraceSettings now = settings_;
    now.count = left();
    return now;
  }
  uint32_t level() const { return settings_.level; }
  uint32_t log_frequency() const { return settings_.log_frequency; }
  int64_t left() const { return left_.load(std::memory_order_relaxed); }
  // Whether none but those `collected` is still to come of the traces that were begun so far.
  bool AllCollected(uint64_t collected) const {
    return collected + lost_.load(std::memory_order_relaxed) >=
           created_.load(std::memory_order_relaxed);
  }
  // A trace that was begun will not be collected.
  void CountLost() const { lost_.fetch_add(1, std::memory_order_relaxed); }

 private:
  bool TakeOne() {
    int64_t left = left_.load(std::memory_order_relaxed);
    do {
      if (left < 0) return true;
      if (left == 0) return false;
    } while (!left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed));
    return true;
  }

  const TraceSettings settings_;
  std::atomic<uint64_t> seen_{0};
  std::atomic<int64_t> left_;  // -1: any number
  std::atomic<uint64_t> created_{0};
  mutable std::atomic<uint64_t> lost_{0};
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_SAMPLER_H_
