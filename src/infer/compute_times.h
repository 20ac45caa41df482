// ComputeTimes: the sums of the execution times of a request's parts, in nanoseconds. Thread-safe.
// Owned by the maker of the parts.
#ifndef NEREID_INFER_COMPUTE_TIMES_H_
#define NEREID_INFER_COMPUTE_TIMES_H_

#include <atomic>
#include <cstdint>

#include "observe/stats/model_statistics.h"

namespace nereid {

struct ComputeTimes {
  std::atomic<uint64_t> queue{0};
  std::atomic<uint64_t> input{0};
  std::atomic<uint64_t> infer{0};
  std::atomic<uint64_t> output{0};

  void Add(const SuccessTimes& times) {
    AddBetween(times.queue_start, times.exec_start, &queue);
    AddBetween(times.exec_start, times.compute_start, &input);
    AddBetween(times.compute_start, times.compute_end, &infer);
    AddBetween(times.compute_end, times.exec_end, &output);
  }

 private:
  // Backends may report wrong times: a negative duration counts as zero.
  static void AddBetween(uint64_t start, uint64_t end, std::atomic<uint64_t>* sum) {
    if (end > start) sum->fetch_add(end - start, std::memory_order_relaxed);
  }
};

}  // namespace nereid

#endif  // NEREID_INFER_COMPUTE_TIMES_H_
