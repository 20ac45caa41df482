// SPDX-License-Identifier: Apache-2.0
// RecordRing: the last records of one kind, in memory that is taken once and never grows. Any
// thread writes (RingWriters::kMany), or one at a time (kOne), which is cheaper. No writer waits; a
// reader copies what is there and never holds up a writer.
//
// Each slot is a sequence lock: its number is odd while the slot is being written, and a reader
// discards a copy during which the number has changed. All words are atomic, so that a discarded
// copy is no data race. Word stores are releases and word loads acquires, which orders them with
// the number without a fence (free on x86; ThreadSanitizer understands it).
//
// Memory is mapped on construction and touched by writes only: a model that has no requests costs
// address space and nothing else.
#ifndef NEREID_OBSERVE_RECORD_RECORD_RING_H_
#define NEREID_OBSERVE_RECORD_RECORD_RING_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "observe/record/mapped_memory.h"

namespace nereid {

enum class RingWriters { kMany, kOne };

template <class T, RingWriters kWriters = RingWriters::kMany>
class RecordRing {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0);

 public:
  // Room for at least `records` records, rounded up to a power of two; 0: nothing is kept. Throws
  // std::bad_alloc if the memory cannot be had.
  explicit RecordRing(size_t records)
      : slots_(records == 0 ? 0 : RoundedUp(records)), memory_(slots_ * sizeof(Slot)) {}

  size_t capacity() const { return slots_; }

  // Replaces the oldest record. If another thread is just writing to the same slot, which takes a
  // whole round of the ring while that thread is suspended, the record is dropped. REQUIRES: with
  // kOne, whatever lets one thread write after another orders what they do.
  void Write(const T& record) {
    if (slots_ == 0) return;
    const uint64_t ticket = TakeTicket();
    Slot& slot = At(ticket);
    uint64_t number = slot.number.load(std::memory_order_relaxed);
    if (!Begin(&slot, number)) return;
    std::array<uint64_t, kWords> words;
    std::memcpy(words.data(), &record, sizeof record);
    size_t used = kWords;
    while (used > 0 && words[used - 1] == 0) --used;
    slot.head.store(Head(ticket, used), std::memory_order_release);
    for (size_t i = 0; i < used; ++i) slot.words[i].store(words[i], std::memory_order_release);
    slot.number.store(number + 2, std::memory_order_release);
  }

  // Calls `take` with each record that is there, newest first. Records that are replaced meanwhile
  // are left out.
  template <class Take>
  void Read(Take take) const {
    const uint64_t end = next_.load(std::memory_order_acquire);
    for (uint64_t back = 0; back < slots_ && back < end; ++back) {
      T record;
      if (Copy(end - 1 - back, &record)) take(record);
    }
  }

  // Calls `take` with the records from number `from` on (counted from 0), oldest first, up to one
  // that is still being written. Returns the number to go on with. `*lost` grows by the records
  // that were replaced before they were read.
  template <class Take>
  uint64_t ReadOn(uint64_t from, Take take, uint64_t* lost) const {
    const uint64_t end = next_.load(std::memory_order_acquire);
    for (; from < end; ++from) {
      T record;
      if (end - from <= slots_ && Copy(from, &record)) {
        take(record);
      } else if (end - from <= slots_ / 2) {
        break;  // soon there; one whose writer gave up is given up here, too, half a ring later
      } else {
        ++*lost;
      }
    }
    return from;
  }

 private:
  static constexpr size_t kWords = sizeof(T) / sizeof(uint64_t);

  // All bits zero: never written.
  struct Slot {
    std::atomic<uint64_t> number;
    std::atomic<uint64_t> head;  // Head of the record that is here
    std::array<std::atomic<uint64_t>, kWords> words;
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  // Which record it is, and how many of its words were written; those behind them are zero.
  static constexpr int kUsedBits = 8;
  static_assert(kWords < 1 << kUsedBits);
  static uint64_t Head(uint64_t ticket, size_t used) { return (ticket + 1) << kUsedBits | used; }
  static size_t UsedOf(uint64_t head) { return head & ((1 << kUsedBits) - 1); }

  uint64_t TakeTicket() {
    if constexpr (kWriters == RingWriters::kMany) {
      return next_.fetch_add(1, std::memory_order_relaxed);
    }
    const uint64_t ticket = next_.load(std::memory_order_relaxed);
    next_.store(ticket + 1, std::memory_order_relaxed);
    return ticket;
  }

  // Makes the slot's number odd. False if another writer has it.
  static bool Begin(Slot* slot, uint64_t number) {
    if constexpr (kWriters == RingWriters::kMany) {
      return number % 2 == 0 &&
             slot->number.compare_exchange_strong(number, number + 1, std::memory_order_acquire,
                                                  std::memory_order_relaxed);
    }
    slot->number.store(number + 1, std::memory_order_relaxed);  // before the releases that follow
    return true;
  }

  static size_t RoundedUp(size_t records) {
    size_t power = 1;
    while (power < records) power *= 2;
    return power;
  }

  Slot& At(uint64_t ticket) const {
    return static_cast<Slot*>(memory_.get())[ticket & (slots_ - 1)];
  }

  bool Copy(uint64_t ticket, T* record) const {
    const Slot& slot = At(ticket);
    const uint64_t before = slot.number.load(std::memory_order_acquire);
    if (before == 0 || before % 2 != 0) return false;
    const uint64_t head = slot.head.load(std::memory_order_acquire);
    const size_t used = UsedOf(head);
    if (head != Head(ticket, used)) return false;
    std::array<uint64_t, kWords> words{};
    for (size_t i = 0; i < used; ++i) words[i] = slot.words[i].load(std::memory_order_acquire);
    if (slot.number.load(std::memory_order_relaxed) != before) return false;
    std::memcpy(static_cast<void*>(record), words.data(), sizeof *record);
    return true;
  }

  const size_t slots_;  // a power of two, or 0
  const MappedMemory memory_;
  std::atomic<uint64_t> next_{0};
};

}  // namespace nereid

#endif  // NEREID_OBSERVE_RECORD_RECORD_RING_H_
