// SlotTable: which places of a model's instances are taken by sequences. No lock, no clock.
// Thread-compatible; owned by a scheduler.
//
// Every instance has the same number of slots. A new sequence gets the free slot with the lowest
// number in any instance and, of several, the one of the lowest instance. This spreads sequences
// over the instances. The holder of a slot has a lease; a lease that has ended cannot free the slot
// of its successor.
#ifndef NEREID_SCHEDULING_SEQUENCE_SLOT_TABLE_H_
#define NEREID_SCHEDULING_SEQUENCE_SLOT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nereid {

struct SlotLease {
  uint32_t instance = 0;
  uint32_t slot = 0;
  uint64_t generation = 0;

  friend bool operator==(const SlotLease&, const SlotLease&) = default;
};

class SlotTable {
 public:
  SlotTable(uint32_t instances, uint32_t slots_per_instance)
      : instances_(instances), capacity_(uint64_t{instances} * slots_per_instance) {}

  // None: all slots are taken. If this throws, no slot is taken.
  std::optional<SlotLease> Take();
  // Ends a lease. False, and nothing changes, if it has ended before. Takes no memory.
  bool Free(const SlotLease& lease);
  bool Holds(const SlotLease& lease) const;

  size_t in_use() const { return in_use_; }
  uint64_t capacity() const { return capacity_; }

 private:
  // A slot's place in the order in which slots are given out.
  uint64_t IndexOf(const SlotLease& lease) const {
    return uint64_t{lease.slot} * instances_ + lease.instance;
  }

  const uint64_t instances_;
  const uint64_t capacity_;
  size_t in_use_ = 0;
  // By index, for each slot that was ever taken. Odd: taken. Each Take and Free increments it.
  std::vector<uint64_t> generations_;
  // The free slots among those in generations_. All slots beyond generations_ are free, too.
  std::vector<uint64_t> free_;  // a heap, the lowest first
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_SLOT_TABLE_H_
