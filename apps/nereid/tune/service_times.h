// How long a model's executions take on this machine, as measured. A plain value.
#ifndef NEREID_APPS_NEREID_TUNE_SERVICE_TIMES_H_
#define NEREID_APPS_NEREID_TUNE_SERVICE_TIMES_H_

#include <cstdint>
#include <map>

namespace nereid {

struct ServiceTimes {
  // Microseconds of an execution by the units in its batch, while no other instance executes. The
  // smallest batch is a request of the load.
  std::map<int, double> by_batch_us;
  // By the number of instances that execute at a time: how many times as long each then takes.
  std::map<int, double> slowdown;
  // Microseconds of a request outside queue and execution: network, parsing, writing.
  double overhead_us = 0;
  // Microseconds of processor time that a request of the load takes, alone in its batch, with the
  // client's; and how many processors there are. 0: not known.
  double cpu_us = 0;
  int processors = 0;
  // Processors that an execution keeps busy. 0: one, as far as `cpu_us` has the time for it.
  double execution_processors = 0;
  // MiB of the server's processes, by the number of instances.
  std::map<int, double> memory_mib;

  // Between measured values on a straight line; beyond them on the line of the last two.
  double BatchUs(int units) const;
  // Likewise; at least 1.
  double Slowdown(int busy) const;
  double MemoryMib(int instances) const;
  // Learns `execution_processors` from the processor time of a request with the largest measured
  // batch, if executions are long enough beside the rest of a request to tell.
  void LearnProcessors(double largest_cpu_us);
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

#endif  // NEREID_APPS_NEREID_TUNE_SERVICE_TIMES_H_
