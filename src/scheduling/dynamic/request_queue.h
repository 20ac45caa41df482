// SPDX-License-Identifier: Apache-2.0
// RequestQueue: the requests that wait for one model, in the order in which they are served.
// Thread-compatible; owned by a scheduler. Takes no lock and reads no clock.
//
// Levels are served in ascending order. Within a level come first those in time, in the order of
// their arrival, and then those whose time-out has moved them back, in the order of their
// deadlines. All of them are in one list, so that the next to serve is always at its head. Every
// operation costs O(1), or O(log n) for requests with a deadline. Levels without a policy of their
// own exist only while they hold something, so that there may be any number of them.
#ifndef NEREID_SCHEDULING_DYNAMIC_REQUEST_QUEUE_H_
#define NEREID_SCHEDULING_DYNAMIC_REQUEST_QUEUE_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "config/compiled_model.h"
#include "infer/request_ptr.h"

namespace nereid {

// ---- What a queue policy means for one request. Pure functions.

// When a request that is queued at `now` and asks for a time-out of `asked_us` microseconds (0: it
// does not ask) has waited long enough; none: it waits forever.
std::optional<TimePoint> Deadline(const QueuePolicy& policy, uint64_t asked_us, TimePoint now);

// Whether a request may ever have a deadline in one of the queues of `batching`.
bool MayTimeOut(const BatchingOptions& batching);

// ---- The queue.

// One queued request, which points to its entry (InferRequest::FindSlot). Owned by its queue.
struct QueueEntry {
  RequestPtr request;
  TimePoint queued_at;
  TimePoint deadline = TimePoint::max();  // max: none
  uint64_t number = 0;                    // in order of arrival
  uint64_t level = 0;
  bool delayed = false;   // timed out, and moved back
  size_t heap_index = 0;  // where there is a deadline
  QueueEntry* previous = nullptr;
  QueueEntry* next = nullptr;
};

class RequestQueue {
 public:
  // `batching` outlives this.
  explicit RequestQueue(const BatchingOptions* batching);
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // REQUIRES: not empty.
  const QueueEntry& front() const { return *head_; }
  // The entry at `index` < size(). O(1) if the index is near that of the last call.
  const QueueEntry& At(size_t index) const;

  // Takes `*request` if and only if it returns true; false: its level is full.
  bool Push(RequestPtr* request, TimePoint now);
  // Whether the request of the last Push is also the last to be served.
  bool pushed_last() const { return pushed_last_; }

  // Takes a request out. REQUIRES: `entry` is in this queue.
  RequestPtr Remove(QueueEntry* entry);
  RequestPtr PopFront() { return Remove(head_); }

  // The earliest of all deadlines; none: nothing in the queue will time out.
  std::optional<TimePoint> earliest_deadline() const;
  // Deals with every request whose deadline is at or before `now`: moves it back, or takes it out
  // and adds it to `rejected`, as its level's policy says. Returns whether the queue has changed.
  bool Expire(TimePoint now, std::vector<RequestPtr>* rejected);

 private:
  struct Level {
    const QueuePolicy* policy = nullptr;
    size_t live = 0;
    size_t delayed = 0;
    QueueEntry* live_tail = nullptr;  // null if there are none
    QueueEntry* delayed_tail = nullptr;
    bool permanent = false;  // false: the level is deleted when it is empty
  };
  using Levels = std::map<uint64_t, Level>;

  QueueEntry* NewEntry();
  void Recycle(QueueEntry* entry);
  Levels::iterator FindLevel(uint64_t level);
  // The last entry of all levels before `level`; null if there is none.
  QueueEntry* TailBefore(Levels::iterator level);
  // Puts `entry` behind `previous` (null: at the head).
  void Link(QueueEntry* entry, QueueEntry* previous);
  // Takes `entry` out of the list and its level, not out of the heap.
  void Unlink(QueueEntry* entry);
  void MoveBack(QueueEntry* entry);

  // A binary heap of the entries with a deadline. `heap_index` of an entry is its place.
  static bool Before(const QueueEntry* a, const QueueEntry* b);
  void HeapInsert(QueueEntry* entry);
  void HeapErase(QueueEntry* entry);
  void SiftUp(size_t index);
  void SiftDown(size_t index);
  void HeapPut(size_t index, QueueEntry* entry);

  const BatchingOptions* const batching_;
  Levels levels_;
  std::deque<QueueEntry> storage_;  // a deque, so that addresses are stable
  QueueEntry* spare_ = nullptr;     // entries not in use, linked by `next`
  QueueEntry* head_ = nullptr;
  QueueEntry* tail_ = nullptr;
  size_t size_ = 0;
  uint64_t pushed_ = 0;
  bool pushed_last_ = true;
  std::vector<QueueEntry*> heap_;
  // The entry of the last At() call and its index; null: none.
  mutable const QueueEntry* seen_ = nullptr;
  mutable size_t seen_index_ = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_REQUEST_QUEUE_H_
