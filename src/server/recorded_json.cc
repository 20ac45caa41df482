// SPDX-License-Identifier: Apache-2.0
#include "server/recorded_json.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "observe/record/phases.h"
#include "scheduling/batch.h"

namespace nereid {
namespace {

template <size_t kBytes>
std::string Shown(const TextPrefix<kBytes>& prefix) {
  return absl::StrCat(prefix.text(), prefix.cut() ? "..." : "");
}

}  // namespace

std::vector<FlightRecorder::InstanceOfShard> RecordedInstances(const ServingModel& model) {
  const auto& configured = model.config().instances;
  std::vector<FlightRecorder::InstanceOfShard> instances = model.recorder().Instances();
  instances.resize(std::max(instances.size(), configured.size()));
  for (size_t i = 0; i < configured.size(); ++i) {
    if (instances[i].name.empty()) instances[i].name = configured[i].name;
  }
  return instances;
}

std::string InstanceName(const ServingModel& model, size_t shard) {
  std::string recorded = model.recorder().InstanceName(shard);
  if (!recorded.empty()) return recorded;
  const auto& instances = model.config().instances;
  return shard == 0 || shard > instances.size() ? "" : instances[shard - 1].name;
}

std::string ShownId(const FlightRecord& flight) { return Shown(flight.id); }

std::string ShownSequence(const FlightRecord& flight) {
  if (!flight.sequence_text.text().empty()) return Shown(flight.sequence_text);
  return flight.sequence == 0 ? "" : absl::StrCat(flight.sequence);
}

void WriteClock(RecordClock clock, JsonWriter* w) {
  w->Add("now_ns", clock.now_ns);
  w->Add("now_unix_ms", clock.wall_ms);
}

void WriteFlightMembers(const ServingModel& model, const FlightRecord& flight, JsonWriter* w) {
  w->Add("id", ShownId(flight));
  w->Add("model", model.config().name);
  w->Add("version", absl::StrCat(model.config().version));
  w->Add("outcome", NameOf(flight.outcome));
  w->Add("start_ns", flight.request_start);
  w->Add("latency_ns", LatencyOf(flight));
  w->BeginObject("phases_ns");
  const Phases phases = PhasesOf(flight);
  for (size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (phases[phase] > 0) w->Add(NameOf(phase), phases[phase]);
  }
  w->EndObject();
  w->Add("batch_size", flight.batch_size);
  if (flight.priority != 0) w->Add("priority", flight.priority);
  if (const std::string sequence = ShownSequence(flight); !sequence.empty()) {
    w->Add("sequence", sequence);
  }
  if (flight.sequence_slot != 0) w->Add("sequence_slot", flight.sequence_slot - 1u);
  if (flight.batch != 0) {
    w->Add("instance", InstanceName(model, flight.instance));
    w->Add("batch", flight.batch);
  }
  if (flight.ensemble != 0) w->Add("ensemble", flight.ensemble);
  if (flight.parent != 0) {
    w->Add("step_of", flight.parent);
    w->Add("step", flight.step);
  }
}

void WriteBatch(const ServingModel& model, const BatchRecord& batch,
                const std::vector<FlightRecord>& members, JsonWriter* w) {
  w->BeginObject();
  w->Add("instance", InstanceName(model, batch.instance));
  w->Add("number", batch.number);
  w->Add("reason", NameOf(static_cast<BatchReason>(batch.reason)));
  w->Add("requests", batch.requests);
  w->Add("units", batch.units);
  w->Add("fillers", batch.fillers);
  w->Add("thread", batch.by_caller ? "caller" : "instance");
  w->Add("failed", batch.failed);
  if (batch.staged != 0) w->Add("staged_ns", batch.staged);
  w->Add("left_queue_ns", batch.pulled);
  w->Add("start_ns", batch.exec_start);
  w->Add("end_ns", batch.exec_end);
  w->BeginArray("members");
  for (const FlightRecord& flight : members) w->String(ShownId(flight));
  w->EndArray();
  w->EndObject();
}

}  // namespace nereid
