#include "scheduling/sequence/slot_table.h"

#include <algorithm>
#include <functional>

namespace nereid {

std::optional<SlotLease> SlotTable::Take() {
  uint64_t index;
  if (!free_.empty()) {
    std::pop_heap(free_.begin(), free_.end(), std::greater<>());
    index = free_.back();
    free_.pop_back();
  } else if (generations_.size() < capacity_) {
    index = generations_.size();
    // Room for every slot, so that Free takes no memory.
    if (free_.capacity() <= index) free_.reserve(2 * index + 1);
    generations_.push_back(0);
  } else {
    return std::nullopt;
  }
  ++generations_[index];
  ++in_use_;
  return SlotLease{static_cast<uint32_t>(index % instances_),
                   static_cast<uint32_t>(index / instances_), generations_[index]};
}

bool SlotTable::Holds(const SlotLease& lease) const {
  const uint64_t index = IndexOf(lease);
  return lease.instance < instances_ && index < generations_.size() &&
         generations_[index] == lease.generation && lease.generation % 2 == 1;
}

bool SlotTable::Free(const SlotLease& lease) {
  if (!Holds(lease)) return false;
  const uint64_t index = IndexOf(lease);
  ++generations_[index];
  free_.push_back(index);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
  --in_use_;
  return true;
}

}  // namespace nereid
