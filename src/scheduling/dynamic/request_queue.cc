// SPDX-License-Identifier: Apache-2.0
#include "scheduling/dynamic/request_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "infer/infer_request.h"

namespace nereid {

std::optional<TimePoint> Deadline(const QueuePolicy& policy, uint64_t asked_us, TimePoint now) {
  Duration timeout = policy.default_timeout;
  if (policy.allow_timeout_override && asked_us != 0) {
    constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max() / 1000;
    const Duration asked = std::chrono::microseconds(std::min(asked_us, kLongest));
    // A request can shorten the time-out of the policy, but not extend it.
    timeout = timeout == Duration(0) ? asked : std::min(timeout, asked);
  }
  if (timeout == Duration(0)) return std::nullopt;
  return Later(now, timeout);
}

bool MayTimeOut(const BatchingOptions& batching) {
  if (!batching.enabled) return false;
  return batching.default_queue_policy.MayTimeOut() ||
         std::any_of(batching.priority_queue_policy.begin(), batching.priority_queue_policy.end(),
                     [](const auto& level) { return level.second.MayTimeOut(); });
}

namespace {

// An empty queue keeps the memory of at most this many entries.
constexpr size_t kKeptEntries = 1024;

}  // namespace

RequestQueue::RequestQueue(const BatchingOptions* batching) : batching_(batching) {
  const auto add = [this](uint64_t level) {
    levels_[level].policy = &batching_->PolicyOf(level);
    levels_[level].permanent = true;
  };
  add(batching_->LevelOf(0));
  for (const auto& [level, policy] : batching_->priority_queue_policy) add(level);
}

RequestQueue::~RequestQueue() {
  while (!empty()) PopFront().reset();
}

const QueueEntry& RequestQueue::At(size_t index) const {
  if (seen_ == nullptr || index < seen_index_ / 2) {
    seen_ = head_;
    seen_index_ = 0;
  }
  for (; seen_index_ < index; ++seen_index_) seen_ = seen_->next;
  for (; seen_index_ > index; --seen_index_) seen_ = seen_->previous;
  return *seen_;
}

QueueEntry* RequestQueue::NewEntry() {
  if (spare_ == nullptr) return &storage_.emplace_back();
  return std::exchange(spare_, spare_->next);
}

void RequestQueue::Recycle(QueueEntry* entry) {
  if (empty() && storage_.size() > kKeptEntries) {
    // The memory of a long queue is freed once the queue is empty.
    storage_.clear();
    storage_.shrink_to_fit();
    heap_.shrink_to_fit();
    spare_ = nullptr;
    return;
  }
  entry->next = std::exchange(spare_, entry);
}

RequestQueue::Levels::iterator RequestQueue::FindLevel(uint64_t level) {
  const auto [it, is_new] = levels_.try_emplace(level);
  if (is_new) it->second.policy = &batching_->PolicyOf(level);
  return it;
}

QueueEntry* RequestQueue::TailBefore(Levels::iterator level) {
  while (level != levels_.begin()) {
    --level;
    if (level->second.delayed_tail != nullptr) return level->second.delayed_tail;
    if (level->second.live_tail != nullptr) return level->second.live_tail;
  }
  return nullptr;
}

void RequestQueue::Link(QueueEntry* entry, QueueEntry* previous) {
  entry->previous = previous;
  entry->next = previous == nullptr ? head_ : previous->next;
  (previous == nullptr ? head_ : previous->next) = entry;
  (entry->next == nullptr ? tail_ : entry->next->previous) = entry;
  ++size_;
  if (entry->next != nullptr) seen_ = nullptr;
}

void RequestQueue::Unlink(QueueEntry* entry) {
  const auto it = levels_.find(entry->level);
  Level& level = it->second;
  QueueEntry*& tail = entry->delayed ? level.delayed_tail : level.live_tail;
  size_t& count = entry->delayed ? level.delayed : level.live;
  --count;
  if (tail == entry) tail = count == 0 ? nullptr : entry->previous;
  if (level.live + level.delayed == 0 && !level.permanent) levels_.erase(it);

  (entry->previous == nullptr ? head_ : entry->previous->next) = entry->next;
  (entry->next == nullptr ? tail_ : entry->next->previous) = entry->previous;
  --size_;
  seen_ = nullptr;
}

bool RequestQueue::Push(RequestPtr* request, TimePoint now) {
  const uint64_t number = (*request)->priority();
  const auto it = FindLevel(number);
  Level& level = it->second;
  const QueuePolicy& policy = *level.policy;
  // FindLevel has not made this level: a full level is not empty. So nothing has to be undone.
  if (policy.max_queue_size != 0 && level.live + level.delayed >= policy.max_queue_size) {
    return false;
  }
  QueueEntry* const entry = NewEntry();
  *entry = QueueEntry{};
  entry->queued_at = now;
  entry->number = pushed_++;
  entry->level = number;
  entry->deadline = Deadline(policy, (*request)->timeout_us(), now).value_or(TimePoint::max());
  if (entry->deadline != TimePoint::max()) HeapInsert(entry);
  (*request)->PutSlot(entry);
  entry->request = std::move(*request);
  Link(entry, level.live_tail != nullptr ? level.live_tail : TailBefore(it));
  level.live_tail = entry;
  ++level.live;
  pushed_last_ = entry == tail_;
  return true;
}

RequestPtr RequestQueue::Remove(QueueEntry* entry) {
  if (entry->deadline != TimePoint::max()) HeapErase(entry);
  Unlink(entry);
  RequestPtr request = std::move(entry->request);
  request->TakeSlot(entry);
  Recycle(entry);
  return request;
}

std::optional<TimePoint> RequestQueue::earliest_deadline() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front()->deadline;
}

bool RequestQueue::Expire(TimePoint now, std::vector<RequestPtr>* rejected) {
  bool changed = false;
  while (!heap_.empty() && heap_.front()->deadline <= now) {
    QueueEntry* const entry = heap_.front();
    changed = true;
    if (batching_->PolicyOf(entry->level).timeout_action == QueuePolicy::TimeoutAction::kReject) {
      rejected->emplace_back();  // before Remove, so that the request cannot be lost
      rejected->back() = Remove(entry);
    } else {
      MoveBack(entry);
    }
  }
  return changed;
}

void RequestQueue::MoveBack(QueueEntry* entry) {
  const auto it = levels_.find(entry->level);
  Level& level = it->second;
  ++level.delayed;  // first: otherwise Unlink might delete the level as empty
  HeapErase(entry);
  entry->deadline = TimePoint::max();
  Unlink(entry);
  QueueEntry* previous = level.delayed_tail;
  if (previous == nullptr) previous = level.live_tail;
  if (previous == nullptr) previous = TailBefore(it);
  entry->delayed = true;
  Link(entry, previous);
  level.delayed_tail = entry;
}

// ---- The heap.

bool RequestQueue::Before(const QueueEntry* a, const QueueEntry* b) {
  return a->deadline != b->deadline ? a->deadline < b->deadline : a->number < b->number;
}

void RequestQueue::HeapPut(size_t index, QueueEntry* entry) {
  heap_[index] = entry;
  entry->heap_index = index;
}

void RequestQueue::HeapInsert(QueueEntry* entry) {
  heap_.push_back(entry);
  entry->heap_index = heap_.size() - 1;
  SiftUp(entry->heap_index);
}

void RequestQueue::HeapErase(QueueEntry* entry) {
  const size_t index = entry->heap_index;
  QueueEntry* const last = heap_.back();
  heap_.pop_back();
  if (last == entry) return;
  HeapPut(index, last);
  SiftUp(index);
  SiftDown(last->heap_index);
}

void RequestQueue::SiftUp(size_t index) {
  QueueEntry* const entry = heap_[index];
  for (; index > 0; index = (index - 1) / 2) {
    QueueEntry* const parent = heap_[(index - 1) / 2];
    if (!Before(entry, parent)) break;
    HeapPut(index, parent);
  }
  HeapPut(index, entry);
}

void RequestQueue::SiftDown(size_t index) {
  QueueEntry* const entry = heap_[index];
  for (size_t child = 2 * index + 1; child < heap_.size(); child = 2 * index + 1) {
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
    if (!Before(heap_[child], entry)) break;
    HeapPut(index, heap_[child]);
    index = child;
  }
  HeapPut(index, entry);
}

}  // namespace nereid
