// SPDX-License-Identifier: Apache-2.0
#include "replay/virtual_replay.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "replay/recorded_machine.h"
#include "scheduling/batch.h"

namespace nereid {
namespace {

uint64_t ArrivalOf(const RecordedRequest& request) {
  return request.queued_ns != 0 ? request.queued_ns : request.start_ns;
}

// Whether the request has been in the queue until somebody has decided about it.
bool WasQueued(const RecordedRequest& request) {
  if (request.outcome == "cache_hit" || ArrivalOf(request) == 0) return false;
  return request.batch != 0 || request.outcome != "cancelled";
}

uint32_t Narrow(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, std::numeric_limits<uint32_t>::max()));
}

SimulatedRequest LoadOf(const RecordedRequest& recorded) {
  SimulatedRequest request;
  request.arrival_ns = ArrivalOf(recorded);
  request.batch_size = Narrow(std::max<uint64_t>(1, recorded.size));
  request.priority = recorded.priority;
  request.timeout_us = recorded.timeout_us;
  request.flags = Narrow(recorded.flags);
  request.sequence = recorded.sequence_text.empty() ? CorrelationId(recorded.sequence)
                                                    : CorrelationId(recorded.sequence_text);
  request.shapes = Narrow(recorded.shapes);
  return request;
}

class Comparison {
 public:
  Comparison(const RecordedModel& model, const RecordedMachine& machine, VirtualReplay* replay)
      : machine_(machine), replay_(*replay) {
    for (const RecordedBatch& batch : model.batches) by_time_.push_back(&batch);
    absl::c_sort(by_time_, [](const RecordedBatch* a, const RecordedBatch* b) {
      return std::make_pair(a->pulled_ns, a->instance) < std::make_pair(b->pulled_ns, b->instance);
    });
    for (const SimulatedBatch& batch : replay_.result.batches) {
      for (const uint32_t member : batch.members) simulated_[member] = &batch;
    }
  }

  void Run() {
    for (const RecordedBatch* const batch : by_time_) {
      const auto members = machine_.members().find({batch->instance, batch->number});
      if (members == machine_.members().end() || members->second.size() != batch->requests) {
        replay_.incomplete_batches += batch->requests > 0 ? 1 : 0;
        continue;
      }
      ++replay_.compared;
      if (IsReproduced(members->second)) {
        ++replay_.reproduced;
      } else if (replay_.first_difference.empty()) {
        Explain(*batch, members->second);
      }
    }
  }

 private:
  bool IsReproduced(const std::vector<uint32_t>& members) const {
    const auto found = simulated_.find(members.front());
    if (found == simulated_.end()) return false;
    std::vector<uint32_t> simulated = found->second->members;
    absl::c_sort(simulated);
    return simulated == members;
  }

  double Millis(uint64_t at_ns) const {
    return (static_cast<double>(at_ns) - static_cast<double>(replay_.load.front().arrival_ns)) /
           1e6;
  }

  std::string Names(std::vector<uint32_t> members) const {
    absl::c_sort(members);
    return absl::StrJoin(members, ", ", [this](std::string* out, uint32_t member) {
      const std::string& id = replay_.requests[member]->id;
      absl::StrAppend(out, "#", member);
      if (!id.empty()) absl::StrAppend(out, " '", id, "'");
    });
  }

  void Explain(const RecordedBatch& batch, const std::vector<uint32_t>& members) {
    replay_.first_difference =
        absl::StrFormat("at %.3f ms (%s) the server took %s; ", Millis(batch.pulled_ns),
                        batch.reason, Names(members));
    const auto found = simulated_.find(members.front());
    if (found == simulated_.end()) {
      absl::StrAppend(&replay_.first_difference, "in virtual time #", members.front(),
                      " got into no batch");
      return;
    }
    absl::StrAppend(
        &replay_.first_difference,
        absl::StrFormat("in virtual time it was %s, at %.3f ms (%s)", Names(found->second->members),
                        Millis(found->second->pulled_ns), NameOf(found->second->why)));
  }

  const RecordedMachine& machine_;
  VirtualReplay& replay_;
  std::vector<const RecordedBatch*> by_time_;
  std::map<uint32_t, const SimulatedBatch*> simulated_;  // by member: the last batch
};

// The latencies as recorded, by the rules of the simulation: until the execution ends.
SimulationSummary RecordedSummary(const RecordedModel& model, const VirtualReplay& replay,
                                  const RecordedMachine& machine) {
  SimulationResult recorded;
  recorded.requests.resize(replay.load.size());
  for (const RecordedBatch& batch : model.batches) {
    const auto members = machine.members().find({batch.instance, batch.number});
    if (members == machine.members().end()) continue;
    for (const uint32_t member : members->second) {
      recorded.requests[member].batch = recorded.batches.size();
      recorded.requests[member].ended_ns = batch.ended_ns;
    }
    recorded.batches.emplace_back().members = members->second;
  }
  return Summarise(replay.load, recorded);
}

// What has decided in the recording, and takes no part here.
void CountAbsent(const RecordedModel& model, VirtualReplay* replay) {
  for (const RecordedBatch& batch : model.batches) {
    replay->rate_limited_batches += batch.staged_ns != 0 ? 1 : 0;
    replay->strategy_batches += batch.reason == NameOf(BatchReason::kStrategy) ? 1 : 0;
  }
}

}  // namespace

absl::StatusOr<const RecordedModel*> ChooseRecorded(const Recording& recording,
                                                    const std::string& wanted) {
  const RecordedModel* chosen = nullptr;
  for (const auto& [number, model] : recording.models) {
    const bool fits = wanted.empty() || wanted == model.name ||
                      wanted == absl::StrCat(model.name, ":", model.version);
    if (!fits) continue;
    if (chosen == nullptr || model.requests.size() > chosen->requests.size()) chosen = &model;
  }
  if (chosen != nullptr) return chosen;
  return absl::InvalidArgumentError(wanted.empty()
                                        ? "no model was recorded"
                                        : absl::StrCat("no model '", wanted, "' was recorded"));
}

absl::StatusOr<VirtualReplay> ReplayVirtually(const RecordedModel& model,
                                              const CompiledModel& config, Wakes wakes) {
  VirtualReplay replay;
  for (const RecordedRequest& request : model.requests) {
    if (WasQueued(request)) replay.requests.push_back(&request);
  }
  replay.left_out_requests = model.requests.size() - replay.requests.size();
  if (replay.requests.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no request of model '", model.name, "' was recorded that came to a queue"));
  }
  absl::c_stable_sort(replay.requests, [](const RecordedRequest* a, const RecordedRequest* b) {
    return ArrivalOf(*a) < ArrivalOf(*b);
  });
  for (const RecordedRequest* const request : replay.requests) {
    replay.load.push_back(LoadOf(*request));
  }
  RecordedMachine machine(model.batches, replay.requests, wakes);
  ASSIGN_OR_RETURN(replay.result, Simulate(config, replay.load, &machine));
  replay.summary = Summarise(replay.load, replay.result);
  replay.recorded = RecordedSummary(model, replay, machine);
  CountAbsent(model, &replay);
  Comparison(model, machine, &replay).Run();
  return replay;
}

}  // namespace nereid
