// SPDX-License-Identifier: Apache-2.0
// How long a model's executions take on this machine, as measured. A plain value.
#ifndef NEREID_APPS_WORKSHOP_TUNE_SERVICE_TIMES_H_
#define NEREID_APPS_WORKSHOP_TUNE_SERVICE_TIMES_H_

#include <cstdint>
#include <map>

namespace nereid {

struct ServiceTimes {
  // Microseconds of an execution by the units in its batch, while no other instance executes. The
  // smallest batch is a request of the load.
  std::map<int, double> by_batch_us;
  // How many times as long an execution takes, by the units in its batch, and by the number of
  // instances that execute at a time.
  std::map<int, std::map<int, double>> slowdown;
  // Microseconds between an execution's end and the next one's begin, while requests wait.
  double rest_us = 0;
  // Microseconds of a request outside queue and execution: network, parsing, writing.
  double overhead_us = 0;
  // How they vary from request to request: what is added to them, by the requests of a thousand to
  // which no more is added.
  std::map<int, double> overhead_varies_us;
  // Microseconds of processor time that a request of the load takes, alone in its batch, with the
  // client's; and how many processors there are. 0: not known.
  double cpu_us = 0;
  int processors = 0;
  // Likewise, beside its execution, while many requests are in flight: threads that have always
  // something to do are seldom woken up. 0: not known.
  double busy_cpu_us = 0;
  // Processors that an execution keeps busy. 0: one, as far as `cpu_us` has the time for it.
  double execution_processors = 0;
  // MiB of the server's processes, by the number of instances.
  std::map<int, double> memory_mib;

  // Between measured values on a straight line; beyond them on the line of the last two.
  double BatchUs(int units) const;
  // Likewise; at least 1.
  double Slowdown(int units, int busy) const;
  double MemoryMib(int instances) const;
  // Microseconds that the request of this number is outside queue and execution. Random, but always
  // the same for the same number.
  double OverheadUs(uint64_t number) const;
  // Learns `execution_processors` from the processor time of a request with the largest measured
  // batch, if executions are long enough beside the rest of a request to tell.
  void LearnProcessors(double largest_cpu_us);
  // Learns `busy_cpu_us` from the processor time of a request while many are in flight and
  // `requests` of them, of `units` together, share an execution.
  void LearnBusy(double of_request_us, double requests, double units);
  // Learns `rest_us` from the time from one execution's begin to the next one's, while requests
  // wait, if executions are long enough: the rest of shorter ones is that of waiting for
  // processors.
  void LearnRest(double cycle_us, double execution_us);
  double ProcessorsOfExecution() const;
  // Microseconds of processor time of a request beside its execution, and of an execution; 0: not
  // known.
  double RequestCpuUs() const;
  double ExecutionCpuUs(int units) const;
  // How many requests of `batch_size` the processors can serve in a second if `requests` of them
  // share an execution; infinite if the processor time is not known.
  double MostThroughput(double requests, int batch_size) const;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_TUNE_SERVICE_TIMES_H_
