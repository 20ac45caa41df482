// SPDX-License-Identifier: Apache-2.0
// The machine of a simulation whose executions take as long as measured. Thread-compatible.
#ifndef NEREID_APPS_WORKSHOP_TUNE_MEASURED_MACHINE_H_
#define NEREID_APPS_WORKSHOP_TUNE_MEASURED_MACHINE_H_

#include <cstdint>
#include <vector>

#include "simulation/workload.h"
#include "tune/service_times.h"

namespace nereid {

// The processors, which work off what they are given, and the executions that are under way.
// Times never go back.
class BusyProcessors {
 public:
  explicit BusyProcessors(int count) : count_(count) {}

  // When all that they have will be done.
  uint64_t FreeAt(uint64_t now_ns) const;
  // Gives them something to do; nothing if it is not known how many there are.
  void Work(uint64_t now_ns, double cpu_us);
  // An execution of `units` begins, whose length this returns: longer, the more are under way.
  Duration Execute(const ServiceTimes& times, uint64_t now_ns, uint32_t units);

 private:
  const int count_;
  uint64_t worked_off_ns_ = 0;
  std::vector<uint64_t> executions_;  // when they end
};

// Requests wait for the processors, which have to do what came before. Executions take as long as
// measured.
class MeasuredMachine final : public MachineModel {
 public:
  // `times` outlives this. REQUIRES: it has a time of some batch.
  explicit MeasuredMachine(const ServiceTimes& times)
      : times_(times), own_(times.processors), processors_(&own_) {}
  // One of several models of an ensemble, or the ensemble itself, which share `processors`. These
  // outlive this.
  MeasuredMachine(const ServiceTimes& times, BusyProcessors* processors)
      : times_(times), own_(0), processors_(processors) {}
  MeasuredMachine(const MeasuredMachine&) = delete;
  MeasuredMachine& operator=(const MeasuredMachine&) = delete;

  // At once if the processor time of a request is not known, as for models within an ensemble.
  uint64_t QueuesAt(uint64_t now_ns) override;
  Duration BusyWith(const SimulatedBatch& batch) override;
  Duration RestAfter(const SimulatedBatch& batch) override;

 private:
  const ServiceTimes& times_;
  BusyProcessors own_;
  BusyProcessors* const processors_;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_MEASURED_MACHINE_H_
