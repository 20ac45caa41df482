#include "server/live_json.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/json_writer.h"
#include "lifecycle/managed_model.h"
#include "server/recent_work.h"
#include "server/recorded_json.h"

namespace nereid {
namespace {

// By FailureReason.
constexpr const char* kFailureReasons[kFailureReasonCount] = {"rejected", "cancelled", "backend",
                                                              "other"};

void WriteUint(const char* key, uint64_t number, JsonWriter* w) {
  w->Key(key);
  w->Uint(number);
}

void WriteText(const char* key, const std::string& text, JsonWriter* w) {
  w->Key(key);
  w->String(text);
}

// A version with its numbers, which are read once.
struct Counted {
  LiveModel live;
  StatisticsSnapshot statistics;
};

void WriteServer(const LiveServer& server, const std::vector<Counted>& models, JsonWriter* w) {
  uint64_t succeeded = 0;
  uint64_t failed = 0;
  int64_t queued = 0;
  std::map<std::string, uint64_t> states;
  for (const Counted& each : models) {
    succeeded += each.statistics.success.count;
    failed += each.statistics.fail.count;
    queued += each.statistics.pending;
    ++states[each.live.entry.state.empty() ? "NOT_LOADED" : each.live.entry.state];
  }
  w->Key("server");
  w->BeginObject();
  WriteText("name", server.id, w);
  WriteText("version", server.version, w);
  WriteUint("uptime_ns", server.uptime_ns, w);
  WriteUint("in_flight", server.requests, w);
  WriteUint("in_flight_limit", server.most_requests, w);
  WriteUint("in_flight_bytes", server.bytes, w);
  WriteUint("in_flight_bytes_limit", server.most_bytes, w);
  w->Key("queued");
  w->Int(queued);
  WriteUint("succeeded", succeeded, w);
  WriteUint("failed", failed, w);
  w->Key("states");
  w->BeginObject();
  for (const auto& [state, count] : states) WriteUint(state.c_str(), count, w);
  w->EndObject();
  w->EndObject();
}

void WriteCounters(const StatisticsSnapshot& statistics, JsonWriter* w) {
  w->Key("queued");
  w->Int(statistics.pending);
  WriteUint("succeeded", statistics.success.count, w);
  w->Key("failed");
  w->BeginObject();
  for (size_t i = 0; i < kFailureReasonCount; ++i) {
    WriteUint(kFailureReasons[i], statistics.failures[i], w);
  }
  w->EndObject();
  WriteUint("cache_hits", statistics.cache_hit.count, w);
  WriteUint("inferences", statistics.inference_count, w);
  WriteUint("executions", statistics.execution_count, w);
  w->Key("batch_sizes");
  w->BeginObject();
  for (const auto& [size, batch] : statistics.batches) {
    if (batch.compute_infer.count > 0) {
      WriteUint(absl::StrCat(size).c_str(), batch.compute_infer.count, w);
    }
  }
  w->EndObject();
}

void WritePercentiles(const char* key, const Percentiles& percentiles, JsonWriter* w) {
  w->Key(key);
  w->BeginObject();
  WriteUint("p50", percentiles.p50, w);
  WriteUint("p90", percentiles.p90, w);
  WriteUint("p99", percentiles.p99, w);
  w->EndObject();
}

void WriteRecent(const ServingModel& model, const RecentWork& work, JsonWriter* w) {
  w->Key("recent");
  w->BeginObject();
  WriteUint("window_ns", work.window_ns, w);
  WriteUint("executions", work.executions, w);
  w->Key("batch_sizes");
  w->BeginObject();
  for (const auto& [size, count] : work.batch_sizes) {
    WriteUint(absl::StrCat(size).c_str(), count, w);
  }
  w->EndObject();
  w->Key("reasons");
  w->BeginObject();
  for (size_t i = 0; i < kBatchReasons; ++i) {
    if (work.reasons[i] > 0) WriteUint(NameOf(static_cast<BatchReason>(i)), work.reasons[i], w);
  }
  w->EndObject();
  w->Key("instances");
  w->BeginArray();
  const auto instances = RecordedInstances(model);
  for (size_t i = 0; i < std::min(instances.size(), work.busy.size()); ++i) {
    if (instances[i].gone && work.busy[i] == 0) continue;
    w->BeginObject();
    WriteText("name", instances[i].name, w);
    w->Key("busy");
    w->Double(work.busy[i]);
    w->EndObject();
  }
  w->EndArray();
  WriteUint("requests", work.requests, w);
  w->Key("phases_ns");
  w->BeginObject();
  for (size_t i = 0; i < kPhases; ++i) {
    // Others took a few requests some time at most.
    if (work.phases[i].p99 > 0) {
      WritePercentiles(NameOf(static_cast<Phase>(i)), work.phases[i], w);
    }
  }
  w->EndObject();
  WritePercentiles("latency_ns", work.latency, w);
  w->EndObject();
}

void WriteModel(const Counted& counted, TimePoint now, JsonWriter* w) {
  const IndexEntry& entry = counted.live.entry;
  w->BeginObject();
  WriteText("name", entry.name, w);
  if (entry.version >= 0) WriteText("version", absl::StrCat(entry.version), w);
  WriteText("state", entry.state, w);
  WriteText("reason", entry.reason, w);
  if (counted.live.model != nullptr) {
    ManagedModel& model = *counted.live.model;
    const ManagedModel::Work work = model.work(now);
    w->Key("in_flight");
    w->Int(model.InFlight());
    WriteUint("instances", work.instances, w);
    WriteUint("busy_ns", work.busy_ns, w);
    WriteCounters(counted.statistics, w);
    if (model.recorder().enabled()) WriteRecent(model, RecentWorkOf(model, ToNanos(now)), w);
  }
  w->EndObject();
}

// Drops all but those that have executed last, and puts the rest in the order of their names.
void KeepLatest(std::vector<Counted>* models) {
  const auto key = [](const Counted& each) {
    return std::tie(each.live.entry.name, each.live.entry.version);
  };
  const auto by_name = [&](const Counted& a, const Counted& b) { return key(a) < key(b); };
  if (models->size() > kMostLiveModels) {
    const auto end = models->begin() + static_cast<ptrdiff_t>(kMostLiveModels);
    std::nth_element(models->begin(), end, models->end(), [&](const Counted& a, const Counted& b) {
      const uint64_t of_a = a.statistics.last_inference_ms;
      const uint64_t of_b = b.statistics.last_inference_ms;
      return of_a != of_b ? of_a > of_b : by_name(a, b);
    });
    models->erase(end, models->end());
  }
  std::stable_sort(models->begin(), models->end(), by_name);
}

}  // namespace

std::string LiveJsonOf(const LiveServer& server, std::vector<LiveModel> models, TimePoint now,
                       RecordClock clock) {
  std::vector<Counted> counted;
  counted.reserve(models.size());
  for (LiveModel& live : models) {
    StatisticsSnapshot statistics;
    if (live.model != nullptr) statistics = live.model->statistics().Snapshot();
    counted.push_back({std::move(live), std::move(statistics)});
  }
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  WriteClock(clock, &w);
  WriteServer(server, counted, &w);
  const size_t all = counted.size();
  KeepLatest(&counted);
  WriteUint("not_shown", all - counted.size(), &w);
  w.Key("models");
  w.BeginArray();
  for (const Counted& each : counted) WriteModel(each, now, &w);
  w.EndArray();
  w.EndObject();
  return text;
}

std::string LogJsonOf(const LogTail::Lines& read, RecordClock clock) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  WriteClock(clock, &w);
  WriteUint("dropped", read.dropped, &w);
  w.Key("lines");
  w.BeginArray();
  for (const LogLine& line : read.lines) {
    w.BeginObject();
    WriteUint("number", line.number, &w);
    WriteUint("unix_us", line.unix_us, &w);
    WriteText("level", line.level, &w);
    if (!line.place.empty()) WriteText("place", line.place, &w);
    WriteText("message", line.message, &w);
    if (!line.request_id.empty()) WriteText("request_id", line.request_id, &w);
    if (!line.model.empty()) WriteText("model", line.model, &w);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return text;
}

}  // namespace nereid
