// SPDX-License-Identifier: Apache-2.0
#include "bench/row_run.h"

#include <chrono>
#include <memory>
#include <utility>

#include "apps/loadgen/arrivals.h"
#include "apps/loadgen/cpu_time.h"
#include "apps/loadgen/driver.h"
#include "bench/row_recorder.h"

namespace nereid::bench {
namespace {

BenchClock::duration Length(double seconds) {
  return std::chrono::duration_cast<BenchClock::duration>(std::chrono::duration<double>(seconds));
}

RowRecorder::Limits LimitsOf(const LoadPlan& plan, const RowLoad& load) {
  const BenchOptions& options = plan.options();
  RowRecorder::Limits limits;
  limits.open_loop = load.concurrency == 0;
  limits.stability = options.stability / 100;
  limits.warm_up_seconds = options.warm_up_seconds;
  limits.seconds = options.seconds;
  if (limits.open_loop && load.rate == 0) {
    // A trace is measured from its first to its last arrival.
    limits.warm_up_seconds = 0;
    limits.stability = 0;
    limits.seconds = std::chrono::duration<double>(plan.trace().back()).count();
  }
  return limits;
}

absl::StatusOr<uint64_t> Drive(const LoadPlan& plan, const RowLoad& load,
                               const RowRecorder::Limits& limits, Transport* transport,
                               LoadObserver* observer) {
  const BenchOptions& options = plan.options();
  const double seconds = limits.warm_up_seconds + limits.seconds;
  if (load.concurrency > 0) return DriveClosed(transport, Length(seconds), observer);
  if (load.rate == 0) return DriveOpen(transport, ArrivalTimes(plan.trace()), observer);
  return DriveOpen(
      transport, ArrivalTimes(options.arrivals, load.rate, seconds, options.inputs.seed), observer);
}

}  // namespace

std::vector<RowLoad> RowsOf(const BenchOptions& options) {
  std::vector<RowLoad> rows;
  for (const int concurrency : options.concurrency) rows.push_back({concurrency, 0});
  for (const double rate : options.rates) rows.push_back({0, rate});
  if (!options.trace_file.empty()) rows.push_back({});
  return rows;
}

std::optional<ServerTimes> TimesBetween(const ModelCounts& before, const ModelCounts& after) {
  const uint64_t executions = after.executions - before.executions;
  if (after.executions <= before.executions) return std::nullopt;
  const auto mean = [](const ModelCounts::Duration& from, const ModelCounts::Duration& to) {
    const uint64_t count = to.count - from.count;
    return to.count <= from.count ? 0.0
                                  : static_cast<double>(to.nanoseconds - from.nanoseconds) * 1e-3 /
                                        static_cast<double>(count);
  };
  ServerTimes times;
  times.batch_size =
      static_cast<double>(after.inferences - before.inferences) / static_cast<double>(executions);
  times.queue = mean(before.queue, after.queue);
  times.compute_input = mean(before.compute_input, after.compute_input);
  times.compute_infer = mean(before.compute_infer, after.compute_infer);
  times.compute_output = mean(before.compute_output, after.compute_output);
  return times;
}

RowResult MeasureRow(const LoadPlan& plan, const RowLoad& load,
                     const std::function<bool()>& interrupted,
                     const std::function<void(const RowResult&)>& progress) {
  RowResult row;
  row.concurrency = load.concurrency;
  row.rate = load.rate;
  const int slots = load.concurrency > 0 ? load.concurrency : plan.options().max_in_flight;
  const absl::StatusOr<std::unique_ptr<Transport>> transport = plan.Connect(slots);
  if (!transport.ok()) {
    row.failure = std::string(transport.status().message());
    return row;
  }
  const absl::StatusOr<ModelCounts> before = plan.client().Counts();
  const RowRecorder::Limits limits = LimitsOf(plan, load);
  const double cpu_before = OwnCpuSeconds();
  const BenchTime start = BenchClock::now();
  RowRecorder recorder(limits, start, transport->get(), interrupted, progress, &row);
  const absl::StatusOr<uint64_t> unanswered =
      Drive(plan, load, limits, transport->get(), &recorder);
  const BenchTime end = BenchClock::now();
  if (!unanswered.ok()) row.failure = std::string(unanswered.status().message());
  recorder.Finish(end, unanswered.value_or(0));
  row.client_cpu =
      (OwnCpuSeconds() - cpu_before) / std::chrono::duration<double>(end - start).count();
  const absl::StatusOr<ModelCounts> after = plan.client().Counts();
  if (before.ok() && after.ok()) row.server = TimesBetween(*before, *after);
  return row;
}

}  // namespace nereid::bench
