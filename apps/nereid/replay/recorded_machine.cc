#include "replay/recorded_machine.h"

#include <algorithm>

namespace nereid {

RecordedMachine::RecordedMachine(const std::vector<RecordedBatch>& batches,
                                 const std::vector<const RecordedRequest*>& requests)
    : requests_(requests) {
  for (const RecordedBatch& batch : batches) batches_[{batch.instance, batch.number}] = &batch;
  std::map<uint64_t, std::vector<uint64_t>> by_units;
  for (auto it = batches_.begin(); it != batches_.end(); ++it) {
    const RecordedBatch& batch = *it->second;
    uint64_t end = batch.ended_ns;
    const auto next = std::next(it);
    if (next != batches_.end() && next->first.first == batch.instance &&
        next->second->pulled_ns > end && next->second->pulled_ns - end < kShortestSleepNs) {
      end = next->second->pulled_ns;
    }
    const uint64_t busy = end > batch.pulled_ns ? end - batch.pulled_ns : 0;
    busy_ns_[it->first] = busy;
    by_units[batch.units].push_back(busy);
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

Duration RecordedMachine::BusyWith(const SimulatedBatch& batch) {
  std::vector<uint32_t> members = batch.members;
  std::sort(members.begin(), members.end());
  if (!members.empty()) {
    const RecordedRequest& first = *requests_[members.front()];
    const RecordedKey key(first.instance, first.batch);
    const auto recorded = members_.find(key);
    const auto busy = busy_ns_.find(key);
    if (recorded != members_.end() && recorded->second == members && busy != busy_ns_.end()) {
      return Duration(static_cast<int64_t>(busy->second));
    }
  }
  if (middle_ns_.empty()) return Duration(0);
  auto near = middle_ns_.lower_bound(batch.units);
  if (near == middle_ns_.end()) --near;
  return Duration(static_cast<int64_t>(near->second));
}

uint64_t RecordedMachine::LooksAt(uint64_t due_ns, std::optional<uint32_t> oldest) {
  if (!oldest.has_value()) return due_ns;
  const RecordedRequest& request = *requests_[*oldest];
  const auto batch = batches_.find({request.instance, request.batch});
  if (batch == batches_.end()) return due_ns;
  const uint64_t looked = batch->second->pulled_ns;
  return looked > due_ns && looked - due_ns <= kLongestWakeNs ? looked : due_ns;
}

}  // namespace nereid
