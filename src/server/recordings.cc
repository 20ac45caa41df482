// SPDX-License-Identifier: Apache-2.0
#include "server/recordings.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "observe/record/phases.h"
#include "server/recorded_json.h"

namespace nereid {
namespace {

constexpr size_t kAll = 2 * FlightRecorder::kMostEvents;
// Requests with one id that are shown, and steps of an ensemble's request.
constexpr size_t kMostOfOneId = 100;

// Instance and number of an execution.
using BatchKey = std::pair<uint16_t, uint64_t>;

BatchKey KeyOf(const FlightRecord& flight) { return {flight.instance, flight.batch}; }

// Copies of the records of one model version, newest first, and which belong together.
class Copies {
 public:
  // First the requests: one that ends meanwhile is then missing in its execution, but no execution
  // that has ended before is missing.
  Copies(const ServingModel& model, uint64_t since, size_t most)
      : model_(model),
        flights_(model.recorder().Flights(since, most)),
        batches_(model.recorder().Batches(since, most)) {
    for (const FlightRecord& flight : flights_) {
      if (flight.batch != 0) members_[KeyOf(flight)].push_back(flight);
    }
    for (const BatchRecord& batch : batches_) by_key_[{batch.instance, batch.number}] = &batch;
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  const std::vector<FlightRecord>& flights() const { return flights_; }
  const std::vector<BatchRecord>& batches() const { return batches_; }

  void WriteMembersOf(const FlightRecord& flight, JsonWriter* w) const {
    WriteFlightMembers(model_, flight, w);
  }
  void Write(const BatchRecord& batch, JsonWriter* w) const {
    static const std::vector<FlightRecord> kNone;
    const auto found = members_.find({batch.instance, batch.number});
    WriteBatch(model_, batch, found == members_.end() ? kNone : found->second, w);
  }
  // The execution that has taken in `flight`, as member "execution", if it is remembered.
  void WriteExecutionOf(const FlightRecord& flight, JsonWriter* w) const {
    const auto found = by_key_.find(KeyOf(flight));
    if (flight.batch == 0 || found == by_key_.end()) return;
    w->Key("execution");
    Write(*found->second, w);
  }

 private:
  const ServingModel& model_;
  const std::vector<FlightRecord> flights_;
  const std::vector<BatchRecord> batches_;
  std::map<BatchKey, std::vector<FlightRecord>> members_;
  std::map<BatchKey, const BatchRecord*> by_key_;
};

// One request and the copies that it is among.
struct Found {
  const Copies* copies;
  const FlightRecord* flight;
};

// The steps of ensembles' requests, by the number of the request; oldest first.
std::map<uint64_t, std::vector<Found>> StepsIn(const std::vector<std::unique_ptr<Copies>>& all) {
  std::map<uint64_t, std::vector<Found>> steps;
  for (const auto& copies : all) {
    for (const FlightRecord& flight : copies->flights()) {
      if (flight.parent != 0) steps[flight.parent].push_back({copies.get(), &flight});
    }
  }
  for (auto& [parent, of_one] : steps) {
    std::sort(of_one.begin(), of_one.end(), [](const Found& a, const Found& b) {
      return std::tie(a.flight->request_start, a.flight->step) <
             std::tie(b.flight->request_start, b.flight->step);
    });
  }
  return steps;
}

// The object of a request and its execution, without what is below it.
void BeginFlight(const Found& found, JsonWriter* w) {
  w->BeginObject();
  found.copies->WriteMembersOf(*found.flight, w);
  found.copies->WriteExecutionOf(*found.flight, w);
}

void WriteSteps(const std::vector<Found>& steps, JsonWriter* w) {
  w->BeginArray("steps");
  for (size_t i = 0; i < std::min(steps.size(), kMostOfOneId); ++i) {
    BeginFlight(steps[i], w);
    w->EndObject();
  }
  w->EndArray();
}

// The instances that there are, and those of `batches`.
void WriteInstances(const ServingModel& model, const std::vector<BatchRecord>& batches,
                    JsonWriter* w) {
  std::set<size_t> seen;
  for (const BatchRecord& batch : batches) seen.insert(batch.instance);
  const auto instances = RecordedInstances(model);
  for (size_t i = 0; i < instances.size(); ++i) {
    if (!instances[i].gone || seen.count(i + 1) > 0) w->String(instances[i].name);
  }
}

}  // namespace

std::string TimelineJson(const ServingModel& model, const RecordWindow& window, RecordClock clock) {
  const Copies copies(model, window.since_ns, std::min(window.limit, RecordWindow::kMost));
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  WriteClock(clock, &w);
  w.Add("model", model.config().name);
  w.Add("version", absl::StrCat(model.config().version));
  w.Add("recording", model.recorder().enabled());
  w.BeginArray("instances");
  WriteInstances(model, copies.batches(), &w);
  w.EndArray();
  w.BeginArray("executions");
  for (const BatchRecord& batch : copies.batches()) copies.Write(batch, &w);
  w.EndArray();
  w.BeginArray("requests");
  for (const FlightRecord& flight : copies.flights()) {
    w.BeginObject();
    copies.WriteMembersOf(flight, &w);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return text;
}

std::string RequestsJson(const RecordedModels& models, absl::string_view id, RecordClock clock) {
  std::vector<std::unique_ptr<Copies>> all;
  std::vector<Found> found;
  for (const auto& model : models) {
    all.push_back(std::make_unique<Copies>(*model, 0, kAll));
    for (const FlightRecord& flight : all.back()->flights()) {
      if (flight.id.Matches(id)) found.push_back({all.back().get(), &flight});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.flight->sent > b.flight->sent; });
  if (found.size() > kMostOfOneId) found.resize(kMostOfOneId);
  const auto steps = StepsIn(all);
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  WriteClock(clock, &w);
  w.BeginArray("requests");
  for (const Found& one : found) {
    BeginFlight(one, &w);
    const auto of_one = steps.find(one.flight->ensemble);
    if (one.flight->ensemble != 0 && of_one != steps.end()) WriteSteps(of_one->second, &w);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return text;
}

}  // namespace nereid
