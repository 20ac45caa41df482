// SPDX-License-Identifier: Apache-2.0
#include "replay/recorded_machine.h"

#include <algorithm>

namespace nereid {
namespace {

uint64_t BusyNs(const RecordedBatch& batch) {
  return batch.ended_ns > batch.pulled_ns ? batch.ended_ns - batch.pulled_ns : 0;
}

}  // namespace

RecordedMachine::RecordedMachine(const std::vector<RecordedBatch>& batches,
                                 const std::vector<const RecordedRequest*>& requests, Wakes wakes)
    : requests_(requests), wakes_(wakes) {
  for (const RecordedBatch& batch : batches) batches_[{batch.instance, batch.number}] = &batch;
  std::map<uint64_t, std::vector<uint64_t>> by_units;
  for (auto it = batches_.begin(); it != batches_.end(); ++it) {
    const RecordedBatch& batch = *it->second;
    const auto next = std::next(it);
    if (next != batches_.end() && next->first.first == batch.instance &&
        next->second->pulled_ns > batch.ended_ns &&
        next->second->pulled_ns - batch.ended_ns < kShortestSleepNs) {
      rest_ns_[it->first] = next->second->pulled_ns - batch.ended_ns;
    }
    by_units[batch.units].push_back(BusyNs(batch));
  }
  for (auto& [units, times] : by_units) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    middle_ns_[units] = *middle;
  }
  for (uint32_t i = 0; i < requests.size(); ++i) {
    const RecordedRequest& request = *requests[i];
    if (request.batch != 0) members_[{request.instance, request.batch}].push_back(i);
  }
}

const RecordedBatch* RecordedMachine::Same(const SimulatedBatch& batch) const {
  if (batch.members.empty()) return nullptr;
  std::vector<uint32_t> members = batch.members;
  std::sort(members.begin(), members.end());
  const RecordedRequest& first = *requests_[members.front()];
  const RecordedKey key(first.instance, first.batch);
  const auto recorded = members_.find(key);
  const auto found = batches_.find(key);
  if (recorded == members_.end() || recorded->second != members) return nullptr;
  return found == batches_.end() ? nullptr : found->second;
}

Duration RecordedMachine::RestAfter(const SimulatedBatch& batch) {
  const RecordedBatch* const same = Same(batch);
  if (same == nullptr) return Duration(0);
  const auto rest = rest_ns_.find({same->instance, same->number});
  return Duration(rest == rest_ns_.end() ? 0 : static_cast<int64_t>(rest->second));
}

Duration RecordedMachine::BusyWith(const SimulatedBatch& batch) {
  if (const RecordedBatch* const same = Same(batch); same != nullptr) {
    return Duration(static_cast<int64_t>(BusyNs(*same)));
  }
  if (middle_ns_.empty()) return Duration(0);
  auto near = middle_ns_.lower_bound(batch.units);
  if (near == middle_ns_.end()) --near;
  return Duration(static_cast<int64_t>(near->second));
}

uint64_t RecordedMachine::LooksAt(uint64_t due_ns, std::optional<uint32_t> oldest) {
  if (!oldest.has_value() || wakes_ == Wakes::kAtOnce) return due_ns;
  const RecordedRequest& request = *requests_[*oldest];
  const auto batch = batches_.find({request.instance, request.batch});
  if (batch == batches_.end()) return due_ns;
  const uint64_t looked = batch->second->pulled_ns;
  return looked > due_ns && looked - due_ns <= kLongestWakeNs ? looked : due_ns;
}

}  // namespace nereid
