// SPDX-License-Identifier: Apache-2.0
// ShadowQueue: simulates what would happen to arriving requests if a given plan were followed, with
// a queue without requests and instances that take as long as the service curve says. Its cost
// tells how good the plan is. Takes no lock, reads no clock, allocates only when it is made.
// Thread-compatible; owned by an AdaptivePolicy.
#ifndef NEREID_SCHEDULING_ADAPTIVE_SHADOW_QUEUE_H_
#define NEREID_SCHEDULING_ADAPTIVE_SHADOW_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "scheduling/adaptive/service_curve.h"

namespace nereid {

struct Arrival {
  TimePoint at;
  uint32_t units = 1;  // what the request counts for in a batch
};

// When the last requests of a model arrived. Allocates only when it is made. Owned by an
// AdaptivePolicy.
class ArrivalLog {
 public:
  static constexpr uint64_t kSize = 4096;

  ArrivalLog() : ring_(kSize) {}

  // Index of the next arrival; the first is 0.
  uint64_t end() const { return end_; }
  void Add(const Arrival& arrival) { ring_[end_++ % kSize] = arrival; }
  // REQUIRES: index < end() <= index + kSize.
  const Arrival& At(uint64_t index) const { return ring_[index % kSize]; }

 private:
  std::vector<Arrival> ring_;
  uint64_t end_ = 0;
};

// How an adaptive batcher makes its batches: an idle instance takes all queued requests, up to
// `max_units`, once the oldest request has waited for `delay` or `max_units` are queued.
struct BatchPlan {
  Duration delay{0};
  uint64_t max_units = 1;
};

// The most units of a batch whose oldest request has waited for `age`. If that request can no
// longer be answered within `target`, the plan does not apply any more: the batch size that serves
// most requests per time then shortens the queue soonest.
inline uint64_t BatchLimit(const BatchPlan& plan, const ServiceCurve& curve, Duration target,
                           Duration age) {
  return age + curve.Cautious(1) > target ? curve.efficient_units() : plan.max_units;
}

class ShadowQueue {
 public:
  // `log` and `curve` outlive this. REQUIRES: instances >= 1, target > 0.
  ShadowQueue(const ArrivalLog* log, const ServiceCurve* curve, Duration target, size_t instances);

  // Sets the plan from now on. The results of the old plan still count, and fade.
  void set_plan(const BatchPlan& plan) { plan_ = plan; }
  const BatchPlan& plan() const { return plan_; }

  // The last request of the log has just arrived. REQUIRES: called for each arrival, and the curve
  // is known.
  void Arrive();

  // Smaller is better: the part of the requests that is late and, far less, how long requests take
  // and whether the instances are close to being busy all the time.
  double cost() const;
  // The part of the requests that is late, a mean over about the last 2,000.
  double late() const { return late_; }
  size_t waiting() const { return static_cast<size_t>(tail_ - head_); }

 private:
  std::vector<TimePoint>::iterator NextFree();
  // When the batch at the head starts if nothing more arrives. REQUIRES: something waits.
  TimePoint Due(TimePoint free) const;
  // An instance that is free at `now` takes a batch; sets until when it is busy.
  void Start(TimePoint* instance, TimePoint now);
  void CountLatency(Duration latency, bool late);

  const ArrivalLog* const log_;
  const ServiceCurve* const curve_;
  const Duration target_;
  BatchPlan plan_;
  uint64_t head_ = 0;               // index in the log of the first waiting request
  uint64_t tail_ = 0;               // index after the last waiting request
  uint64_t units_ = 0;              // of the waiting requests
  std::vector<TimePoint> free_at_;  // of each instance
  TimePoint last_arrival_;
  // Decaying means over requests.
  double late_ = 0;
  double latency_ = 0;  // as a part of the target, twice at most
  double busy_ = 0;     // nanoseconds of an instance for each request
  double gap_ = 0;      // nanoseconds between two arrivals
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_SHADOW_QUEUE_H_
