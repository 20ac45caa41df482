// SPDX-License-Identifier: Apache-2.0
// Compares slot table and backlog with a simple reference, under random operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "scheduling/sequence/sequence_tables.h"

namespace nereid {
namespace {

constexpr uint32_t kInstances = 3;
constexpr uint32_t kSlots = 5;
constexpr int kOperations = 1'000'000;
constexpr auto kFromAny = [](uint32_t) { return true; };

// The expected behaviour of the two parts, by linear searches.
struct Reference {
  struct Waiting {
    uint64_t sequence;
    TimePoint deadline;
    size_t requests;
  };
  std::optional<uint64_t> taken[kSlots][kInstances];  // by which sequence
  std::vector<Waiting> line;

  std::optional<std::pair<uint32_t, uint32_t>> Take(uint64_t sequence) {
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      for (uint32_t instance = 0; instance < kInstances; ++instance) {
        if (taken[slot][instance].has_value()) continue;
        taken[slot][instance] = sequence;
        return std::pair(slot, instance);
      }
    }
    return std::nullopt;
  }
  auto Find(uint64_t sequence) {
    return std::find_if(line.begin(), line.end(),
                        [&](const Waiting& waiting) { return waiting.sequence == sequence; });
  }
  size_t Requests() const {
    size_t count = 0;
    for (const Waiting& waiting : line) count += waiting.requests;
    return count;
  }
};

struct Running {
  uint64_t sequence;
  SlotLease lease;
};

// Does every step on the two parts and on the reference.
class Pair {
 public:
  explicit Pair(uint64_t seed) : random_(seed) {}

  void Step() {
    now_ += Duration(random_() % 4);
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        return Begin();
      case 3:
        return AddToWaiting();
      case 4:
      case 5:
        return EndRunning();
      case 6:
        return CancelWaiting();
      case 7:
        return Expire();
    }
  }

  void Compare() const {
    ASSERT_EQ(slots_.in_use(), running_.size());
    ASSERT_EQ(backlog_.sequences(), reference_.line.size());
    ASSERT_EQ(backlog_.requests(), reference_.Requests());
    TimePoint earliest = TimePoint::max();
    for (const auto& waiting : reference_.line) earliest = std::min(earliest, waiting.deadline);
    ASSERT_EQ(backlog_.earliest_deadline().value_or(TimePoint::max()), earliest);
  }

 private:
  TimePoint SomeDeadline() {
    return random_() % 3 == 0 ? TimePoint::max() : now_ + Duration(random_() % 200);
  }

  void Assign(uint64_t sequence) {
    const std::optional<SlotLease> lease = slots_.Take(kFromAny);
    const auto expected = reference_.Take(sequence);
    ASSERT_EQ(lease.has_value(), expected.has_value());
    if (!lease.has_value()) return;
    ASSERT_EQ(lease->slot, expected->first);
    ASSERT_EQ(lease->instance, expected->second);
    running_.push_back({sequence, *lease});
  }

  void Begin() {
    const uint64_t sequence = ++last_;
    if (running_.size() < kInstances * kSlots) return Assign(sequence);
    ASSERT_FALSE(slots_.Take(kFromAny).has_value());
    if (reference_.line.size() > 40) return;
    const TimePoint deadline = SomeDeadline();
    backlog_.Add(sequence, deadline);
    reference_.line.push_back({sequence, deadline, 1});
  }

  void AddToWaiting() {
    if (reference_.line.empty()) return;
    auto& waiting = reference_.line[random_() % reference_.line.size()];
    const TimePoint deadline = SomeDeadline();
    backlog_.Add(waiting.sequence, deadline);
    waiting.deadline = std::min(waiting.deadline, deadline);
    ++waiting.requests;
  }

  void EndRunning() {
    if (running_.empty()) return;
    const size_t which = random_() % running_.size();
    const Running ended = running_[which];
    running_.erase(running_.begin() + static_cast<ptrdiff_t>(which));
    ASSERT_TRUE(slots_.Holds(ended.lease));
    ASSERT_TRUE(slots_.Free(ended.lease));
    reference_.taken[ended.lease.slot][ended.lease.instance].reset();
    ASSERT_FALSE(slots_.Holds(ended.lease));
    ASSERT_FALSE(slots_.Free(ended.lease));
    stale_ = ended.lease;
    const std::optional<uint64_t> next = backlog_.PopFront();
    ASSERT_EQ(next.has_value(), !reference_.line.empty());
    if (!next.has_value()) return;
    ASSERT_EQ(*next, reference_.line.front().sequence);
    reference_.line.erase(reference_.line.begin());
    Assign(*next);
    // The ended lease cannot free the slot of its successor.
    ASSERT_FALSE(slots_.Free(*stale_));
  }

  void CancelWaiting() {
    const uint64_t sequence = last_ < 40 ? last_ : last_ - random_() % 40;
    const auto waiting = reference_.Find(sequence);
    ASSERT_EQ(backlog_.Remove(sequence), waiting != reference_.line.end());
    if (waiting != reference_.line.end()) reference_.line.erase(waiting);
  }

  void Expire() {
    std::vector<uint64_t> expired;
    while (const std::optional<uint64_t> number = backlog_.FirstExpired(now_)) {
      expired.push_back(*number);
      backlog_.Remove(*number);
    }
    std::sort(expired.begin(), expired.end());
    std::vector<uint64_t> expected;
    for (auto waiting = reference_.line.begin(); waiting != reference_.line.end();) {
      if (waiting->deadline <= now_) {
        expected.push_back(waiting->sequence);
        waiting = reference_.line.erase(waiting);
      } else {
        ++waiting;
      }
    }
    ASSERT_EQ(expired, expected);
  }

  std::mt19937_64 random_;
  TimePoint now_ = FromNanos(1000);
  uint64_t last_ = 0;
  SlotTable slots_{kInstances, kSlots};
  Backlog backlog_;
  Reference reference_;
  std::vector<Running> running_;
  std::optional<SlotLease> stale_;
};

TEST(SequenceModelTest, AMillionRandomOperations) {
  for (const uint64_t seed : {1u, 2u, 3u, 4u}) {
    Pair pair(seed);
    for (int i = 0; i < kOperations / 4; ++i) {
      pair.Step();
      if (i % 16 != 0) continue;
      pair.Compare();
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", operation " << i;
    }
  }
}

}  // namespace
}  // namespace nereid
