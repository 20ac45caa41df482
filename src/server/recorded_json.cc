#include "server/recorded_json.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "observe/record/phases.h"
#include "scheduling/batch_reason.h"

namespace nereid {
namespace {

template <size_t kBytes>
std::string Shown(const TextPrefix<kBytes>& prefix) {
  return absl::StrCat(prefix.text(), prefix.cut() ? "..." : "");
}

void WriteNumber(const char* key, uint64_t number, JsonWriter* w) {
  w->Key(key);
  w->Uint(number);
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
  WriteNumber("now_ns", clock.now_ns, w);
  WriteNumber("now_unix_ms", clock.wall_ms, w);
}

void WriteFlightMembers(const ServingModel& model, const FlightRecord& flight, JsonWriter* w) {
  w->Key("id");
  w->String(ShownId(flight));
  w->Key("model");
  w->String(model.config().name);
  w->Key("version");
  w->String(absl::StrCat(model.config().version));
  w->Key("outcome");
  w->String(NameOf(flight.outcome));
  WriteNumber("start_ns", flight.request_start, w);
  WriteNumber("latency_ns", LatencyOf(flight), w);
  w->Key("phases_ns");
  w->BeginObject();
  const Phases phases = PhasesOf(flight);
  for (size_t i = 0; i < kPhases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (phases[phase] > 0) WriteNumber(NameOf(phase), phases[phase], w);
  }
  w->EndObject();
  WriteNumber("batch_size", flight.batch_size, w);
  if (flight.priority != 0) WriteNumber("priority", flight.priority, w);
  if (const std::string sequence = ShownSequence(flight); !sequence.empty()) {
    w->Key("sequence");
    w->String(sequence);
  }
  if (flight.sequence_slot != 0) WriteNumber("sequence_slot", flight.sequence_slot - 1u, w);
  if (flight.batch != 0) {
    w->Key("instance");
    w->String(InstanceName(model, flight.instance));
    WriteNumber("batch", flight.batch, w);
  }
  if (flight.ensemble != 0) WriteNumber("ensemble", flight.ensemble, w);
  if (flight.parent != 0) {
    WriteNumber("step_of", flight.parent, w);
    WriteNumber("step", flight.step, w);
  }
}

void WriteBatch(const ServingModel& model, const BatchRecord& batch,
                const std::vector<FlightRecord>& members, JsonWriter* w) {
  w->BeginObject();
  w->Key("instance");
  w->String(InstanceName(model, batch.instance));
  WriteNumber("number", batch.number, w);
  w->Key("reason");
  w->String(NameOf(static_cast<BatchReason>(batch.reason)));
  WriteNumber("requests", batch.requests, w);
  WriteNumber("units", batch.units, w);
  WriteNumber("fillers", batch.fillers, w);
  w->Key("thread");
  w->String(batch.by_caller ? "caller" : "instance");
  w->Key("failed");
  w->Bool(batch.failed);
  if (batch.staged != 0) WriteNumber("staged_ns", batch.staged, w);
  WriteNumber("left_queue_ns", batch.pulled, w);
  WriteNumber("start_ns", batch.exec_start, w);
  WriteNumber("end_ns", batch.exec_end, w);
  w->Key("members");
  w->BeginArray();
  for (const FlightRecord& flight : members) w->String(ShownId(flight));
  w->EndArray();
  w->EndObject();
}

}  // namespace nereid
