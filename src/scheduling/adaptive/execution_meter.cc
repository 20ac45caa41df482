#include "scheduling/adaptive/execution_meter.h"

#include <algorithm>
#include <new>

#include "infer/infer_request.h"

namespace nereid {

void ExecutionMeter::Begin(const BatchExecutor* by, const Batch& batch, TimePoint now) noexcept {
  auto mine = std::find_if(running_.begin(), running_.end(),
                           [&](const Running& one) { return one.by == by; });
  if (mine == running_.end()) try {
      mine = running_.insert(mine, Running{by, 0, TimePoint()});
    } catch (const std::bad_alloc&) {
      return;
    }
  mine->units = 0;
  for (const RequestPtr& request : batch) mine->units += request->units_in_batch();
  mine->begun = now;
}

std::optional<ExecutionMeter::Execution> ExecutionMeter::End(const BatchExecutor* by,
                                                             TimePoint now) const {
  for (const Running& one : running_) {
    if (one.by == by) return Execution{one.units, now - one.begun};
  }
  return std::nullopt;
}

}  // namespace nereid
