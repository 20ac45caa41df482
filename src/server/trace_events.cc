// SPDX-License-Identifier: Apache-2.0
// TraceEventsJson: the records in the trace-event format.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "observe/record/phases.h"
#include "scheduling/batch.h"
#include "server/recorded_json.h"
#include "server/recordings.h"

namespace nereid {
namespace {

// Writes the events of one model version, which is process `pid`.
class VersionEvents {
 public:
  VersionEvents(const ServingModel& model, size_t pid, JsonWriter* w)
      : model_(model), pid_(pid), w_(w), instances_(RecordedInstances(model)) {}

  void NameThreads() {
    const CompiledModel& config = model_.config();
    Name("process_name", 0, absl::StrCat(config.name, " ", config.version));
    for (size_t i = 0; i < instances_.size(); ++i) {
      Name("thread_name", i + 1, instances_[i].name);
    }
  }

  void Write(const BatchRecord& batch) {
    const char* const reason = NameOf(static_cast<BatchReason>(batch.reason));
    Begin(absl::StrCat(batch.requests, " (", reason, ")"), "execution", "X", batch.exec_start,
          batch.instance);
    w_->Add("dur", Micros(batch.exec_end - std::min(batch.exec_end, batch.exec_start)));
    w_->BeginObject("args");
    w_->Add("number", batch.number);
    w_->Add("reason", reason);
    w_->Add("requests", batch.requests);
    w_->Add("units", batch.units);
    w_->Add("failed", batch.failed);
    w_->EndObject();
    w_->EndObject();
  }

  // What a sequence slot does has a line of its own.
  void WriteSlot(const FlightRecord& flight) {
    if (flight.sequence_slot == 0 || flight.exec_start == 0) return;
    const size_t line = flight.sequence_slot * instances_.size() + flight.instance;
    if (named_.insert(line).second) {
      Name("thread_name", line,
           absl::StrCat(InstanceName(model_, flight.instance), " slot ", flight.sequence_slot - 1));
    }
    Begin(absl::StrCat("sequence ", ShownSequence(flight)), "slot", "X", flight.exec_start, line);
    w_->Add("dur", Micros(flight.answered - std::min(flight.answered, flight.exec_start)));
    w_->BeginObject("args");
    w_->Add("request", ShownId(flight));
    w_->EndObject();
    w_->EndObject();
  }

  // A request is an asynchronous span, which its phases divide.
  void Write(const FlightRecord& flight) {
    const std::string name = flight.id.text().empty() ? "request" : ShownId(flight);
    const std::string span = absl::StrCat(pid_, ".", ++requests_);
    uint64_t at = flight.request_start;
    Span("b", name, span, at, &flight);
    const Phases phases = PhasesOf(flight);
    for (size_t i = 0; i < kPhases; ++i) {
      if (phases.ns[i] == 0) continue;
      const char* const phase = NameOf(static_cast<Phase>(i));
      Span("b", phase, span, at, nullptr);
      at += phases.ns[i];
      Span("e", phase, span, at, nullptr);
    }
    Span("e", name, span, at, nullptr);
  }

 private:
  static double Micros(uint64_t ns) { return static_cast<double>(ns) / 1000; }

  // Begins the object of an event; its end is the caller's.
  void Begin(absl::string_view name, const char* category, const char* phase, uint64_t at,
             size_t thread) {
    w_->BeginObject();
    w_->Add("name", name);
    w_->Add("cat", category);
    w_->Add("ph", phase);
    w_->Add("ts", Micros(at));
    w_->Add("pid", pid_);
    w_->Add("tid", thread);
  }

  void Name(const char* what, size_t thread, absl::string_view name) {
    Begin(what, "__metadata", "M", 0, thread);
    w_->BeginObject("args");
    w_->Add("name", name);
    w_->EndObject();
    w_->EndObject();
  }

  void Span(const char* phase, absl::string_view name, absl::string_view span, uint64_t at,
            const FlightRecord* flight) {
    Begin(name, "request", phase, at, 0);
    w_->Add("id", span);
    if (flight != nullptr) {
      w_->BeginObject("args");
      WriteFlightMembers(model_, *flight, w_);
      w_->EndObject();
    }
    w_->EndObject();
  }

  const ServingModel& model_;
  const size_t pid_;
  JsonWriter* const w_;
  const std::vector<FlightRecorder::InstanceOfShard> instances_;
  size_t requests_ = 0;
  std::set<size_t> named_;  // lines of slots
};

}  // namespace

std::string TraceEventsJson(const RecordedModels& models, const RecordWindow& window) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  w.Add("displayTimeUnit", "ms");
  w.BeginArray("traceEvents");
  size_t left = std::min(window.limit, RecordWindow::kMost);
  for (size_t i = 0; i < models.size(); ++i) {
    const FlightRecorder& recorder = models[i]->recorder();
    VersionEvents events(*models[i], i + 1, &w);
    events.NameThreads();
    const std::vector<FlightRecord> flights = recorder.Flights(window.since_ns, left);
    for (const BatchRecord& batch : recorder.Batches(window.since_ns, left)) events.Write(batch);
    for (const FlightRecord& flight : flights) {
      events.Write(flight);
      events.WriteSlot(flight);
    }
    left -= flights.size();
  }
  w.EndArray();
  w.EndObject();
  return text;
}

}  // namespace nereid
