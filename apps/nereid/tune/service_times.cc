#include "tune/service_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace nereid {
namespace {

double OnLine(const std::map<int, double>& points, int x, double otherwise) {
  if (points.empty()) return otherwise;
  if (points.size() == 1) return points.begin()->second;
  auto right = points.lower_bound(x);
  if (right == points.begin()) ++right;
  if (right == points.end()) --right;
  const auto left = std::prev(right);
  const double share =
      static_cast<double>(x - left->first) / static_cast<double>(right->first - left->first);
  return left->second + share * (right->second - left->second);
}

}  // namespace

double ServiceTimes::BatchUs(int units) const {
  return std::max(OnLine(by_batch_us, units, 0), 0.0);
}

double ServiceTimes::Slowdown(int busy) const { return std::max(OnLine(slowdown, busy, 1), 1.0); }

double ServiceTimes::MemoryMib(int instances) const {
  return std::max(OnLine(memory_mib, instances, 0), 0.0);
}

double ServiceTimes::RequestCpuUs() const {
  if (by_batch_us.empty()) return 0;
  return std::max(cpu_us - by_batch_us.begin()->second, 0.0);
}

// Executions that take longer than the processor time of the whole request wait for something else.
double ServiceTimes::ExecutionCpuUs(int units) const {
  if (by_batch_us.empty() || by_batch_us.begin()->second <= 0) return 0;
  return std::min(1.0, cpu_us / by_batch_us.begin()->second) * BatchUs(units);
}

double ServiceTimes::MostThroughput(double requests, int batch_size) const {
  const int units = static_cast<int>(std::lround(requests * batch_size));
  const double of_request_us = RequestCpuUs() + ExecutionCpuUs(units) / requests;
  if (of_request_us <= 0 || processors <= 0) return std::numeric_limits<double>::infinity();
  return processors * 1e6 / of_request_us;
}

void MeasuredMachine::Work(uint64_t now_ns, double cpu_us) {
  if (times_.processors <= 0) return;
  const double work_ns = cpu_us * 1e3 / times_.processors;
  worked_off_ns_ = std::max(worked_off_ns_, now_ns) + static_cast<uint64_t>(work_ns);
}

uint64_t MeasuredMachine::QueuesAt(uint64_t now_ns) {
  const uint64_t at = std::max(now_ns, worked_off_ns_);
  Work(now_ns, times_.RequestCpuUs());
  return at;
}

Duration MeasuredMachine::BusyWith(const SimulatedBatch& batch) {
  if (busy_until_ns_.size() <= batch.instance) busy_until_ns_.resize(batch.instance + 1);
  const auto others = std::count_if(busy_until_ns_.begin(), busy_until_ns_.end(),
                                    [&](uint64_t until) { return until > batch.pulled_ns; });
  const double us =
      times_.BatchUs(static_cast<int>(batch.units)) * times_.Slowdown(static_cast<int>(others) + 1);
  const auto busy = static_cast<uint64_t>(us * 1e3);
  busy_until_ns_[batch.instance] = batch.pulled_ns + busy;
  Work(batch.pulled_ns, times_.ExecutionCpuUs(static_cast<int>(batch.units)));
  return Duration(static_cast<int64_t>(busy));
}

}  // namespace nereid
