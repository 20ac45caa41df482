// SPDX-License-Identifier: Apache-2.0
#include "server/recent_work.h"

#include <algorithm>

#include "server/recorded_json.h"

namespace nereid {
namespace {

using Times = std::vector<uint64_t>;

// The value of that rank. REQUIRES: `times` is not empty.
uint64_t Quantile(double quantile, Times* times) {
  const double rank = quantile * static_cast<double>(times->size() - 1) + 0.5;
  const auto nth = times->begin() + static_cast<ptrdiff_t>(rank);
  std::nth_element(times->begin(), nth, times->end());
  return *nth;
}

Percentiles PercentilesOf(Times* times) {
  if (times->empty()) return {};
  return {Quantile(0.5, times), Quantile(0.9, times), Quantile(0.99, times)};
}

// From when on everything is remembered: an instance whose oldest remembered execution is not its
// first, and ended within the window, has forgotten others that may have ended there, too.
uint64_t BeginOfWindow(const std::vector<BatchRecord>& batches, size_t shards, uint64_t begin) {
  std::vector<const BatchRecord*> oldest(shards, nullptr);
  for (const BatchRecord& batch : batches) {
    const BatchRecord*& of_shard = oldest[batch.instance];
    if (of_shard == nullptr || batch.number < of_shard->number) of_shard = &batch;
  }
  for (const BatchRecord* const batch : oldest) {
    if (batch != nullptr && batch->number > 1) begin = std::max(begin, batch->exec_end);
  }
  return begin;
}

void AddExecutions(const ServingModel& model, uint64_t now_ns, RecentWork* work) {
  const size_t instances = RecordedInstances(model).size();
  std::vector<BatchRecord> batches = model.recorder().Batches(0, 2 * FlightRecorder::kMostEvents);
  batches.erase(std::remove_if(batches.begin(), batches.end(),
                               [&](const BatchRecord& b) { return b.instance > instances; }),
                batches.end());
  const uint64_t earliest = now_ns - std::min(now_ns, RecentWork::kWindowNs);
  const uint64_t begin = BeginOfWindow(batches, instances + 1, earliest);
  work->window_ns = begin > earliest ? now_ns - std::min(now_ns, begin) : RecentWork::kWindowNs;
  std::vector<uint64_t> busy_ns(instances, 0);
  for (const BatchRecord& batch : batches) {
    if (batch.exec_end <= begin) continue;
    ++work->executions;
    ++work->batch_sizes[batch.units];
    if (batch.reason < kBatchReasons) ++work->reasons[batch.reason];
    if (batch.instance == 0) continue;
    const uint64_t start = std::max(batch.exec_start, begin);
    busy_ns[batch.instance - 1u] += batch.exec_end - std::min(start, batch.exec_end);
  }
  for (const uint64_t ns : busy_ns) {
    const double whole = static_cast<double>(std::max<uint64_t>(1, work->window_ns));
    work->busy.push_back(std::min(1.0, static_cast<double>(ns) / whole));
  }
}

void AddRequests(const ServingModel& model, uint64_t now_ns, RecentWork* work) {
  const std::vector<FlightRecord> flights = model.recorder().Flights(
      now_ns - std::min(now_ns, work->window_ns), RecentWork::kMostRequests);
  work->requests = flights.size();
  std::array<Times, kPhases> phases;
  Times latencies;
  for (const FlightRecord& flight : flights) {
    const Phases of_one = PhasesOf(flight);
    for (size_t i = 0; i < kPhases; ++i) phases[i].push_back(of_one.ns[i]);
    latencies.push_back(LatencyOf(flight));
  }
  for (size_t i = 0; i < kPhases; ++i) work->phases[i] = PercentilesOf(&phases[i]);
  work->latency = PercentilesOf(&latencies);
}

}  // namespace

RecentWork RecentWorkOf(const ServingModel& model, uint64_t now_ns) {
  RecentWork work;
  AddExecutions(model, now_ns, &work);
  AddRequests(model, now_ns, &work);
  return work;
}

std::optional<Percentiles> RecentLatencyOf(const ServingModel& model, uint64_t now_ns) {
  Times latencies;
  for (const FlightRecord& flight : model.recorder().Flights(
           now_ns - std::min(now_ns, RecentWork::kWindowNs), RecentWork::kMostRequests)) {
    latencies.push_back(LatencyOf(flight));
  }
  if (latencies.empty()) return std::nullopt;
  return PercentilesOf(&latencies);
}

}  // namespace nereid
