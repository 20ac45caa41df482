// ArrivalLog: when the last requests of a model arrived. Takes no lock, reads no clock, allocates
// only when it is made. Thread-compatible; owned by an AdaptivePolicy.
#ifndef NEREID_SCHEDULING_ADAPTIVE_ARRIVAL_LOG_H_
#define NEREID_SCHEDULING_ADAPTIVE_ARRIVAL_LOG_H_

#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace nereid {

struct Arrival {
  TimePoint at;
  uint32_t units = 1;  // what the request counts for in a batch
};

class ArrivalLog {
 public:
  static constexpr uint64_t kSize = 4096;

  ArrivalLog() : ring_(kSize) {}

  // Index of the next arrival; the first is 0.
  uint64_t end() const { return end_; }
  void Add(const Arrival& arrival) { ring_[end_++ % kSize] = arrival; }
  // REQUIRES: index < end() <= index + kSize.
  const Arrival& At(uint64_t index) const { return ring_[index % kSize]; }

 private:
  std::vector<Arrival> ring_;
  uint64_t end_ = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_ARRIVAL_LOG_H_
