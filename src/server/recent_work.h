// SPDX-License-Identifier: Apache-2.0
// RecentWork: what the flight recorder of a model version says about the last seconds. Pure, apart
// from the rings that are copied.
#ifndef NEREID_SERVER_RECENT_WORK_H_
#define NEREID_SERVER_RECENT_WORK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "infer/serving_model.h"
#include "observe/record/phases.h"
#include "scheduling/batch.h"

namespace nereid {

// In nanoseconds.
struct Percentiles {
  uint64_t p50 = 0, p90 = 0, p99 = 0;
};

struct RecentWork {
  static constexpr uint64_t kWindowNs = 10'000'000'000;
  static constexpr size_t kMostRequests = 4096;

  // How long before now the window begins: kWindowNs, or less if an instance does not remember as
  // much. Executions that ended within the window are counted.
  uint64_t window_ns = kWindowNs;
  uint64_t executions = 0;
  std::map<uint64_t, uint64_t> batch_sizes;  // executions by elements, without fillers
  std::array<uint64_t, kBatchReasons> reasons{};
  std::vector<double> busy;  // share of the window by instance, as RecordedInstances

  // Of the requests that ended within the window, the newest ones: at most kMostRequests, and what
  // the instances remember.
  uint64_t requests = 0;
  std::array<Percentiles, kPhases> phases;  // by Phase; all zero for one that took no time
  Percentiles latency;
};

// `now_ns`: of the model's steady clock.
RecentWork RecentWorkOf(const ServingModel& model, uint64_t now_ns);
// Of the newest requests that ended in the last RecentWork::kWindowNs, at most
// RecentWork::kMostRequests; nothing if none is remembered.
std::optional<Percentiles> RecentLatencyOf(const ServingModel& model, uint64_t now_ns);

}  // namespace nereid

#endif  // NEREID_SERVER_RECENT_WORK_H_
