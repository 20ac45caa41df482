#include "scheduling/sequence/slot_table.h"

namespace nereid {

std::optional<SlotLease> SlotTable::Take() {
  uint64_t index;
  if (!free_.empty()) {
    index = free_.top();
    free_.pop();
  } else if (generations_.size() < capacity_) {
    index = generations_.size();
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
  free_.push(index);
  --in_use_;
  return true;
}

}  // namespace nereid
