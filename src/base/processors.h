// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use. Stateless, thread-safe.
#ifndef NEREID_BASE_PROCESSORS_H_
#define NEREID_BASE_PROCESSORS_H_

#include <sched.h>

#include <algorithm>
#include <thread>

namespace nereid {

// Those on which the calling thread may run; all processors if there are more than a cpu_set_t can
// hold. At least 1. A control group's quota does not count: it limits time, and under a quota
// threads still run side by side.
inline int UsableProcessors() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  const int count = sched_getaffinity(0, sizeof(processors), &processors) == 0
                        ? CPU_COUNT(&processors)
                        : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, count);
}

}  // namespace nereid

#endif  // NEREID_BASE_PROCESSORS_H_
