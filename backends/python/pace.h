// SPDX-License-Identifier: Apache-2.0
// Pace: how many executions the process of an instance may be given at a time. The shorter they
// are, the more is gained. The longer they are, the longer a request that was handed over waits
// where the scheduler cannot reach it. Owned by the instance's thread.
#ifndef NEREID_BACKENDS_PYTHON_PACE_H_
#define NEREID_BACKENDS_PYTHON_PACE_H_

#include <algorithm>
#include <cstdint>

namespace nereid_backend {

class Pace {
 public:
  static constexpr uint32_t kMost = 8;
  // Executions that are given together should take no longer.
  static constexpr uint64_t kTogetherNs = 500'000;

  // An execution has taken so long.
  void Note(uint64_t took_ns) {
    const int64_t counted = static_cast<int64_t>(std::min(took_ns, kMostCountedNs));
    mean_ns_ += (counted - mean_ns_) / kWeight;
  }
  // An execution is of the kind that is given alone.
  void NoteAlone() { mean_ns_ = kTogetherNs; }
  uint32_t most() const {
    const int64_t fit = static_cast<int64_t>(kTogetherNs) / std::max<int64_t>(mean_ns_, 1);
    return static_cast<uint32_t>(std::clamp<int64_t>(fit, 1, kMost));
  }

 private:
  // A long execution is enough to give some alone, but its length is forgotten after a while: where
  // many threads share a processor, short executions are sometimes interrupted for long.
  static constexpr uint64_t kMostCountedNs = 4 * kTogetherNs;
  static constexpr int64_t kWeight = 8;  // of the mean: as much as so many executions

  int64_t mean_ns_ = kTogetherNs;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_PACE_H_
