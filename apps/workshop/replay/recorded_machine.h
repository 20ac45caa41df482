// SPDX-License-Identifier: Apache-2.0
// RecordedMachine: instances that take as long as recorded ones. Thread-compatible.
#ifndef NEREID_APPS_WORKSHOP_REPLAY_RECORDED_MACHINE_H_
#define NEREID_APPS_WORKSHOP_REPLAY_RECORDED_MACHINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "frontends/codec/recording.h"
#include "simulation/workload.h"

namespace nereid {

// Instance and number of an execution.
using RecordedKey = std::pair<uint64_t, uint64_t>;

// When sleeping instances look for a batch that is due.
enum class Wakes { kAsRecorded, kAtOnce };

class RecordedMachine final : public MachineModel {
 public:
  // A sleeping instance needs no longer to wake up; a longer time has other causes.
  static constexpr uint64_t kLongestWakeNs = 50'000'000;
  // An instance that looks again so soon after an execution has not slept.
  static constexpr uint64_t kShortestSleepNs = 1'000'000;

  // `requests`: by their number in the simulation. Both outlive this.
  RecordedMachine(const std::vector<RecordedBatch>& batches,
                  const std::vector<const RecordedRequest*>& requests, Wakes wakes);

  // A batch with the members of a recorded one takes as long as that; another one as long as the
  // middle one of the recorded batches of nearly its size.
  Duration BusyWith(const SimulatedBatch& batch) override;
  // As after that execution.
  Duration RestAfter(const SimulatedBatch& batch) override;
  // When the instance looked that has taken the oldest request, if that fits.
  uint64_t LooksAt(uint64_t due_ns, std::optional<uint32_t> oldest) override;

  // The members of recorded batches, in the order of their numbers.
  const std::map<RecordedKey, std::vector<uint32_t>>& members() const { return members_; }

 private:
  // The recorded execution with the members of `batch`; null: there is none.
  const RecordedBatch* Same(const SimulatedBatch& batch) const;

  const std::vector<const RecordedRequest*>& requests_;
  const Wakes wakes_;
  std::map<RecordedKey, const RecordedBatch*> batches_;
  std::map<RecordedKey, uint64_t> rest_ns_;  // until the instance looked again, if it did not sleep
  std::map<RecordedKey, std::vector<uint32_t>> members_;
  std::map<uint64_t, uint64_t> middle_ns_;  // by units
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_REPLAY_RECORDED_MACHINE_H_
