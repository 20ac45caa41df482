// ExecutionMeter: how long instances need for the batches that they pull, from one Pull to the
// next. Sending the answers counts: the next batch has to wait for that too. Thread-compatible;
// used under a scheduler's mutex. Reads no clock.
#ifndef NEREID_SCHEDULING_ADAPTIVE_EXECUTION_METER_H_
#define NEREID_SCHEDULING_ADAPTIVE_EXECUTION_METER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "scheduling/scheduler.h"

namespace nereid {

class ExecutionMeter {
 public:
  struct Execution {
    uint64_t units = 0;
    Duration took{0};
  };

  // Has room for `instances` instances.
  explicit ExecutionMeter(size_t instances) { running_.reserve(instances); }

  // `by` executes `batch` from `now` on. Where there is no memory for one more instance, nothing is
  // learned from this execution.
  void Begin(const BatchExecutor* by, const Batch& batch, TimePoint now) noexcept;
  // `by` has executed the batch that it began last; none if it never began one.
  std::optional<Execution> End(const BatchExecutor* by, TimePoint now) const;

 private:
  struct Running {
    const BatchExecutor* by = nullptr;
    uint64_t units = 0;
    TimePoint begun;
  };

  std::vector<Running> running_;  // the last batch of each instance
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ADAPTIVE_EXECUTION_METER_H_
