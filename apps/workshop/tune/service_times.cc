// SPDX-License-Identifier: Apache-2.0
#include "tune/service_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

namespace nereid {
namespace {

// So many times as long as the rest of a request, an execution can be told apart from it.
constexpr double kLongExecution = 5;
// Known, and next to nothing.
constexpr double kLeastUs = 1e-3;

double Itself(double value) { return value; }

// `value_of`: of a point's second part.
template <typename Points, typename ValueOf>
double OnLine(const Points& points, int x, double otherwise, const ValueOf& value_of) {
  if (points.empty()) return otherwise;
  if (points.size() == 1) return value_of(points.begin()->second);
  auto right = points.lower_bound(x);
  if (right == points.begin()) ++right;
  if (right == points.end()) --right;
  const auto left = std::prev(right);
  const double share =
      static_cast<double>(x - left->first) / static_cast<double>(right->first - left->first);
  const double from = value_of(left->second);
  return from + share * (value_of(right->second) - from);
}

double OnLine(const std::map<int, double>& points, int x, double otherwise) {
  return OnLine(points, x, otherwise, Itself);
}

}  // namespace

double ServiceTimes::BatchUs(int units) const {
  return std::max(OnLine(by_batch_us, units, 0), 0.0);
}

double ServiceTimes::Slowdown(int units, int busy) const {
  const auto of_size = [busy](const auto& by_busy) { return OnLine(by_busy, busy, 1); };
  return std::max(OnLine(slowdown, units, 1, of_size), 1.0);
}

double ServiceTimes::MemoryMib(int instances) const {
  return std::max(OnLine(memory_mib, instances, 0), 0.0);
}

double ServiceTimes::OverheadUs(uint64_t number) const {
  std::minstd_rand random(static_cast<uint32_t>(number + 1));
  random.discard(2);  // neighbours begin alike
  const auto of_a_thousand = static_cast<int>(random() % 1000);
  return std::max(overhead_us + OnLine(overhead_varies_us, of_a_thousand, 0), 0.0);
}

void ServiceTimes::LearnProcessors(double largest_cpu_us) {
  if (by_batch_us.empty()) return;
  const double smallest = by_batch_us.begin()->second;
  const double largest = by_batch_us.rbegin()->second;
  if (largest < 2 * smallest || largest < kLongExecution * overhead_us) return;
  // Larger requests have more bytes to move, too; but an execution has no more than a whole
  // request.
  const double most = std::min(cpu_us / smallest, std::max<double>(processors, 1));
  execution_processors = std::clamp((largest_cpu_us - cpu_us) / (largest - smallest), 0.0, most);
}

void ServiceTimes::LearnBusy(double of_request_us, double requests, double units) {
  const double of_execution_us = ExecutionCpuUs(static_cast<int>(std::lround(units)));
  busy_cpu_us = std::max(of_request_us - of_execution_us / requests, kLeastUs);
}

void ServiceTimes::LearnRest(double cycle_us, double execution_us) {
  if (execution_us < kLongExecution * overhead_us) return;
  rest_us = std::clamp(cycle_us - execution_us, 0.0, overhead_us);
}

// Executions that take longer than the processor time of the whole request wait for something else.
double ServiceTimes::ProcessorsOfExecution() const {
  if (execution_processors > 0) return execution_processors;
  if (by_batch_us.empty() || by_batch_us.begin()->second <= 0) return 0;
  return std::min(1.0, cpu_us / by_batch_us.begin()->second);
}

double ServiceTimes::RequestCpuUs() const {
  if (by_batch_us.empty()) return 0;
  const double alone =
      std::max(cpu_us - ProcessorsOfExecution() * by_batch_us.begin()->second, 0.0);
  return busy_cpu_us > 0 ? std::min(alone, busy_cpu_us) : alone;
}

double ServiceTimes::ExecutionCpuUs(int units) const {
  return ProcessorsOfExecution() * BatchUs(units);
}

double ServiceTimes::MostThroughput(double requests, int batch_size) const {
  const int units = static_cast<int>(std::lround(requests * batch_size));
  const double of_request_us = RequestCpuUs() + ExecutionCpuUs(units) / requests;
  if (of_request_us <= 0 || processors <= 0) return std::numeric_limits<double>::infinity();
  return processors * 1e6 / of_request_us;
}

}  // namespace nereid
