// SPDX-License-Identifier: Apache-2.0
// A simulation of batching: requests arrive at given times, a policy forms batches, and instances
// take as long as a given function says. Time is simulated: nothing sleeps, and every run has the
// same result. For tests; pure functions.
#ifndef NEREID_SCHEDULING_TESTING_BATCHING_SIMULATION_H_
#define NEREID_SCHEDULING_TESTING_BATCHING_SIMULATION_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "scheduling/dynamic/batch_policy.h"

namespace nereid::simulation {

enum class Load { kPoisson, kBursty, kStep };

// Arrivals with a mean rate of about `rate` per second. Bursty: periods of a tenth of a second, the
// first fifth of which has 16 times the rate of the rest. Step: 0.4, then 1.5, then 1.1 times
// `rate`.
inline std::vector<TimePoint> Arrivals(Load load, double rate, double seconds, uint64_t seed) {
  const auto rate_at = [&](double at) {
    if (load == Load::kPoisson) return rate;
    if (load == Load::kBursty) return std::fmod(at, 0.1) < 0.02 ? 4 * rate : 0.25 * rate;
    const double part = at / seconds;
    return rate * (part < 1.0 / 3 ? 0.4 : part < 2.0 / 3 ? 1.5 : 1.1);
  };
  // A Poisson process with four times the rate, thinned to the rate of each moment.
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  std::vector<TimePoint> arrivals;
  for (double at = 0;;) {
    at -= std::log(uniform()) / (4 * rate);
    if (at >= seconds) return arrivals;
    if (uniform() * 4 * rate >= rate_at(at)) continue;
    arrivals.push_back(FromNanos(1'000'000'000 + static_cast<uint64_t>(at * 1e9)));
  }
}

// The policy under test: a BatchPolicy, or any other class that can make these three calls.
class Decider {
 public:
  virtual ~Decider() = default;
  virtual BatchDecision Decide(const QueueView& queue, TimePoint now, BatchCursor* cursor) = 0;
  virtual void OnArrival(TimePoint) {}
  virtual void OnExecuted(uint64_t, Duration) {}
};

struct Setting {
  std::function<double(double)> micros;  // the execution time of a batch of that many requests
  size_t instances = 1;
  Duration target{0};
};

class Run {
 public:
  Run(const std::vector<TimePoint>& arrivals, const Setting& setting, Decider* decider)
      : arrivals_(arrivals), setting_(setting), decider_(decider), instances_(setting.instances) {}

  // Requests answered within the target, per second of arrivals.
  double Goodput() {
    for (TimePoint now = arrivals_.front(); queue_.head < arrivals_.size();) now = Step(now);
    const std::chrono::duration<double> span = arrivals_.back() - arrivals_.front();
    return static_cast<double>(in_time_) / span.count();
  }

 private:
  struct Queue final : QueueView {
    explicit Queue(const std::vector<TimePoint>& all) : arrivals(all) {}
    size_t size() const override { return tail - head; }
    uint32_t units(size_t) const override { return 1; }
    TimePoint queued_at(size_t index) const override { return arrivals[head + index]; }
    bool Compatible(size_t, size_t) const override { return true; }

    const std::vector<TimePoint>& arrivals;
    size_t head = 0;
    size_t tail = 0;
  };
  struct Instance {
    TimePoint busy_until;
    size_t batch = 0;  // 0: idle
    Duration took{0};
  };

  // Does everything that happens at `now`; returns the time of the next event.
  TimePoint Step(TimePoint now) {
    for (Instance& instance : instances_) {
      if (instance.batch == 0 || instance.busy_until > now) continue;
      decider_->OnExecuted(instance.batch, instance.took);
      instance.batch = 0;
    }
    for (; queue_.tail < arrivals_.size() && arrivals_[queue_.tail] <= now; ++queue_.tail) {
      decider_->OnArrival(arrivals_[queue_.tail]);
    }
    TimePoint next = TimePoint::max();
    for (Instance& instance : instances_) {
      if (instance.batch > 0) continue;
      const BatchDecision decision = decider_->Decide(queue_, now, &cursor_);
      if (decision.take > 0) {
        Start(decision.take, now, &instance);
      } else {
        next = decision.wake_at.value_or(next);
        break;
      }
    }
    if (queue_.tail < arrivals_.size()) next = std::min(next, arrivals_[queue_.tail]);
    for (const Instance& instance : instances_) {
      if (instance.batch > 0) next = std::min(next, instance.busy_until);
    }
    return next;
  }

  void Start(size_t take, TimePoint now, Instance* instance) {
    // The time varies by up to 3 %, and about every 200th execution takes half as long again.
    double noise = 0.97 + 0.06 * static_cast<double>(random_() % 1000) / 1000;
    if (random_() % 200 == 0) noise *= 1.5;
    const double nanos = 1000 * noise * setting_.micros(static_cast<double>(take));
    instance->took = Duration(static_cast<int64_t>(nanos));
    instance->busy_until = now + instance->took;
    instance->batch = take;
    for (size_t i = 0; i < take; ++i) {
      if (instance->busy_until - queue_.queued_at(i) <= setting_.target) ++in_time_;
    }
    queue_.head += take;
    cursor_ = BatchCursor{};
  }

  const std::vector<TimePoint>& arrivals_;
  const Setting& setting_;
  Decider* const decider_;
  std::vector<Instance> instances_;
  Queue queue_{arrivals_};
  BatchCursor cursor_;
  std::mt19937_64 random_{7};
  size_t in_time_ = 0;
};

}  // namespace nereid::simulation

#endif  // NEREID_SCHEDULING_TESTING_BATCHING_SIMULATION_H_
