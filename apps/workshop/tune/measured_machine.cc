// SPDX-License-Identifier: Apache-2.0
#include "tune/measured_machine.h"

#include <algorithm>

namespace nereid {

uint64_t BusyProcessors::FreeAt(uint64_t now_ns) const { return std::max(now_ns, worked_off_ns_); }

void BusyProcessors::Work(uint64_t now_ns, double cpu_us) {
  if (count_ <= 0) return;
  worked_off_ns_ = FreeAt(now_ns) + static_cast<uint64_t>(cpu_us * 1e3 / count_);
}

Duration BusyProcessors::Execute(const ServiceTimes& times, uint64_t now_ns, uint32_t units) {
  std::erase_if(executions_, [now_ns](uint64_t until) { return until <= now_ns; });
  const int size = static_cast<int>(units);
  const double us =
      times.BatchUs(size) * times.Slowdown(size, static_cast<int>(executions_.size()) + 1);
  const auto busy_ns = static_cast<uint64_t>(us * 1e3);
  executions_.push_back(now_ns + busy_ns);
  Work(now_ns, times.ExecutionCpuUs(size));
  return Duration(static_cast<int64_t>(busy_ns));
}

uint64_t MeasuredMachine::QueuesAt(uint64_t now_ns) {
  if (times_.cpu_us <= 0) return now_ns;
  const uint64_t at = processors_->FreeAt(now_ns);
  processors_->Work(now_ns, times_.RequestCpuUs());
  return at;
}

Duration MeasuredMachine::BusyWith(const SimulatedBatch& batch) {
  return processors_->Execute(times_, batch.pulled_ns, batch.units);
}

Duration MeasuredMachine::RestAfter(const SimulatedBatch& /*batch*/) {
  return Duration(static_cast<int64_t>(times_.rest_us * 1e3));
}

}  // namespace nereid
