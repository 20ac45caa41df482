// SPDX-License-Identifier: Apache-2.0
#include "scheduling/adaptive/adaptive_policy.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <new>

#include "config/server_parameters.h"
#include "infer/infer_request.h"

namespace nereid {

// ---- The target.

namespace {

constexpr int64_t kMostMicros = 3'600'000'000;  // an hour

bool IsWholeNumber(absl::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

absl::StatusOr<Duration> AdaptiveTarget(const CompiledModel& model, const BatchingRivals& rivals) {
  const auto found = model.parameters.find(kTargetP99Parameter);
  if (found == model.parameters.end()) return Duration(0);
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter '", kTargetP99Parameter, "' of model '", model.name, "' ", why));
  };
  int64_t micros = 0;
  if (!IsWholeNumber(found->second) || !absl::SimpleAtoi(found->second, &micros) || micros < 1 ||
      micros > kMostMicros) {
    return refuse(absl::StrCat("is '", found->second,
                               "'; it must be a whole number of microseconds from 1 to ",
                               kMostMicros));
  }
  if (!model.batching.enabled || model.max_batch_size < 2) {
    return refuse("needs dynamic_batching and a max_batch_size of 2 or more");
  }
  // Without preferred sizes in the configuration, the list has only the largest batch size.
  const auto& sizes = model.batching.preferred_batch_sizes;
  const bool prefers = std::any_of(sizes.begin(), sizes.end(),
                                   [&](int32_t size) { return size != model.max_batch_size; });
  if (prefers || model.batching.max_queue_delay > Duration(0)) {
    return refuse(
        "cannot be combined with preferred_batch_size or max_queue_delay_microseconds, which it "
        "chooses");
  }
  if (rivals.custom_strategy) return refuse("cannot be combined with a custom batching strategy");
  if (rivals.rate_limited) return refuse("cannot be combined with the rate limiter (--rate-limit)");
  return std::chrono::microseconds(micros);
}

// ---- The policy.

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

// ---- The meter.

void ExecutionMeter::Begin(const BatchExecutor* by, const Batch& batch, TimePoint now) noexcept {
  auto mine = std::find_if(running_.begin(), running_.end(),
                           [&](const Running& one) { return one.by == by; });
  if (mine == running_.end()) try {
      mine = running_.insert(mine, Running{by, 0, TimePoint()});
    } catch (const std::bad_alloc&) {
      return;
    }
  mine->units = 0;
  for (const RequestPtr& request : batch) mine->units += request->units_in_batch();
  mine->begun = now;
}

std::optional<ExecutionMeter::Execution> ExecutionMeter::End(const BatchExecutor* by,
                                                             TimePoint now) const {
  for (const Running& one : running_) {
    if (one.by == by) return Execution{one.units, now - one.begun};
  }
  return std::nullopt;
}

// ---- Metrics.

namespace {

constexpr MetricFamily kDelay = {
    "nereid_adaptive_batch_delay_us", MetricKind::kGauge,
    "Longest wait for a batch to grow that adaptive batching has chosen, in microseconds",
    MetricSection::kBatching};
constexpr MetricFamily kSize = {"nereid_adaptive_batch_size", MetricKind::kGauge,
                                "Largest batch that adaptive batching has chosen",
                                MetricSection::kBatching};

}  // namespace

void DescribeMetrics(const BatchPlan& plan, MetricSink* sink) {
  sink->Report(kDelay, plan.delay / std::chrono::microseconds(1));
  sink->Report(kSize, plan.max_units);
}

}  // namespace nereid
