#include "scheduling/adaptive/adaptive_policy.h"

#include <algorithm>
#include <iterator>

namespace nereid {
namespace {

// A plan, relative to the target and to the most efficient batch.
struct Candidate {
  double delay;     // 0.5: half of the target
  uint64_t divide;  // 2: half of the most efficient batch
};
constexpr Candidate kCandidates[] = {
    {0, 1},       {1.0 / 32, 1}, {1.0 / 16, 1}, {1.0 / 8, 1}, {1.0 / 4, 1}, {3.0 / 8, 1},
    {1.0 / 2, 1}, {0, 2},        {0, 4},        {0, 8},       {1.0 / 8, 2}, {1.0 / 4, 2},
};
constexpr uint64_t kArrivalsBetweenChoices = 64;
// A plan replaces the followed one only if its cost is lower by this much, which is 0.05 % of the
// requests late.
constexpr double kMargin = 0.0005;
// A tenth of the target is the reserve for what the curve cannot foresee.
constexpr int kReserve = 10;

Duration Times(double factor, Duration duration) {
  return Duration(static_cast<int64_t>(factor * static_cast<double>(duration.count())));
}

}  // namespace

AdaptivePolicy::AdaptivePolicy(const AdaptiveOptions& options)
    : target_(options.target - options.target / kReserve),
      curve_(options.max_units),
      shadows_(std::size(kCandidates), ShadowQueue(&log_, &curve_, target_, options.instances)) {
  UpdatePlans();
}

void AdaptivePolicy::UpdatePlans() {
  for (size_t i = 0; i < shadows_.size(); ++i) {
    const Candidate& candidate = kCandidates[i];
    shadows_[i].set_plan({Times(candidate.delay, target_),
                          std::max<uint64_t>(1, curve_.efficient_units() / candidate.divide)});
  }
}

void AdaptivePolicy::OnArrival(TimePoint now, uint32_t units) {
  if (!curve_.known()) return;
  log_.Add({now, units});
  for (ShadowQueue& shadow : shadows_) shadow.Arrive();
  if (log_.end() % kArrivalsBetweenChoices == 0) Choose();
}

void AdaptivePolicy::OnExecuted(uint64_t units, Duration took) {
  const uint64_t before = curve_.efficient_units();
  curve_.Record(units, took);
  if (curve_.efficient_units() != before) UpdatePlans();
}

void AdaptivePolicy::Choose() {
  double lowest = shadows_[chosen_].cost() - kMargin;
  for (size_t i = 0; i < shadows_.size(); ++i) {
    const double cost = shadows_[i].cost();
    if (cost >= lowest) continue;
    lowest = cost;
    chosen_ = i;
  }
}

BatchDecision AdaptivePolicy::Decide(const BatchPolicy& rules, const QueueView& queue,
                                     TimePoint now, BatchCursor* cursor) const {
  BatchDecision decision;
  if (queue.size() == 0) return decision;
  rules.Examine(queue, cursor);
  const TimePoint due = cursor->oldest + plan().delay;
  if (cursor->closed) {
    decision.why = cursor->closed_why;
  } else if (cursor->units >= plan().max_units) {
    // The plan may have chosen smaller batches than the model allows.
    decision.why = plan().max_units < rules.max_units() ? BatchReason::kTarget : BatchReason::kFull;
  } else if (now >= due) {
    const bool delays = plan().delay > Duration(0);
    decision.why = delays ? BatchReason::kDelayOver : BatchReason::kIdleInstance;
  } else {
    decision.wake_at = due;
    return decision;
  }
  const uint64_t limit = BatchLimit(plan(), curve_, target_, now - cursor->oldest);
  uint64_t units = queue.units(0);
  decision.take = 1;
  while (decision.take < cursor->examined && units + queue.units(decision.take) <= limit) {
    units += queue.units(decision.take++);
  }
  if (decision.take < cursor->examined && limit < plan().max_units) {
    decision.why = BatchReason::kTarget;
  }
  return decision;
}

}  // namespace nereid
