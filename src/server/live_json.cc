// SPDX-License-Identifier: Apache-2.0
#include "server/live_json.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/json_writer.h"
#include "lifecycle/model/managed_model.h"
#include "server/recent_work.h"
#include "server/recorded_json.h"

namespace nereid {
namespace {

// By FailureReason.
constexpr const char* kFailureReasons[kFailureReasonCount] = {"rejected", "cancelled", "backend",
                                                              "other"};

void WriteGpu(const LiveGpu& gpu, JsonWriter* w) {
  w->BeginObject();
  w->Add("id", static_cast<int64_t>(gpu.id));
  w->Add("name", gpu.name);
  w->Add("uuid", gpu.uuid);
  w->Add("memory_bytes", gpu.memory_bytes);
  w->Add("pool_bytes", gpu.pool_bytes);
  w->Add("pool_used_bytes", gpu.pool_used_bytes);
  w->Add("instances", gpu.instances);
  if (!gpu.failure.ok()) w->Add("failure", gpu.failure.message());
  if (gpu.reading.has_value()) {
    const GpuReading& reading = *gpu.reading;
    if (reading.utilization.has_value()) w->Add("utilization", *reading.utilization);
    if (reading.memory_used_bytes.has_value()) {
      w->Add("memory_used_bytes", *reading.memory_used_bytes);
    }
    if (reading.power_watts.has_value()) w->Add("power_watts", *reading.power_watts);
  }
  w->EndObject();
}

void WriteServer(const LiveServer& server, const std::vector<CountedModel>& models, JsonWriter* w) {
  uint64_t succeeded = 0;
  uint64_t failed = 0;
  int64_t queued = 0;
  std::map<std::string, uint64_t> states;
  for (const CountedModel& each : models) {
    succeeded += each.statistics.success.count;
    failed += each.statistics.fail.count;
    queued += each.statistics.pending;
    ++states[each.live.entry.state.empty() ? "NOT_LOADED" : each.live.entry.state];
  }
  w->BeginObject("server");
  w->Add("name", server.id);
  w->Add("version", server.version);
  w->Add("uptime_ns", server.uptime_ns);
  w->Add("in_flight", server.requests);
  w->Add("in_flight_limit", server.most_requests);
  w->Add("in_flight_bytes", server.bytes);
  w->Add("in_flight_bytes_limit", server.most_bytes);
  w->Add("queued", queued);
  w->Add("succeeded", succeeded);
  w->Add("failed", failed);
  w->BeginObject("states");
  for (const auto& [state, count] : states) w->Add(state, count);
  w->EndObject();
  if (!server.gpus.empty()) {
    w->BeginArray("gpus");
    for (const LiveGpu& gpu : server.gpus) WriteGpu(gpu, w);
    w->EndArray();
  }
  w->EndObject();
}

void WriteCounters(const StatisticsSnapshot& statistics, JsonWriter* w) {
  w->Add("queued", statistics.pending);
  w->Add("succeeded", statistics.success.count);
  w->BeginObject("failed");
  for (size_t i = 0; i < kFailureReasonCount; ++i) {
    w->Add(kFailureReasons[i], statistics.failures[i]);
  }
  w->EndObject();
  w->Add("cache_hits", statistics.cache_hit.count);
  w->Add("inferences", statistics.inference_count);
  w->Add("executions", statistics.execution_count);
  w->BeginObject("batch_sizes");
  for (const auto& [size, batch] : statistics.batches) {
    if (batch.compute_infer.count > 0) {
      w->Add(absl::StrCat(size), batch.compute_infer.count);
    }
  }
  w->EndObject();
}

void WritePercentiles(const char* key, const Percentiles& percentiles, JsonWriter* w) {
  w->BeginObject(key);
  w->Add("p50", percentiles.p50);
  w->Add("p90", percentiles.p90);
  w->Add("p99", percentiles.p99);
  w->EndObject();
}

void WriteRecent(const ServingModel& model, const RecentWork& work, JsonWriter* w) {
  w->BeginObject("recent");
  w->Add("window_ns", work.window_ns);
  w->Add("executions", work.executions);
  w->BeginObject("batch_sizes");
  for (const auto& [size, count] : work.batch_sizes) {
    w->Add(absl::StrCat(size), count);
  }
  w->EndObject();
  w->BeginObject("reasons");
  for (size_t i = 0; i < kBatchReasons; ++i) {
    if (work.reasons[i] > 0) w->Add(NameOf(static_cast<BatchReason>(i)), work.reasons[i]);
  }
  w->EndObject();
  w->BeginArray("instances");
  const auto instances = RecordedInstances(model);
  for (size_t i = 0; i < std::min(instances.size(), work.busy.size()); ++i) {
    if (instances[i].gone && work.busy[i] == 0) continue;
    w->BeginObject();
    w->Add("name", instances[i].name);
    w->Add("busy", work.busy[i]);
    w->EndObject();
  }
  w->EndArray();
  w->Add("requests", work.requests);
  w->BeginObject("phases_ns");
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

void WriteModel(const CountedModel& counted, TimePoint now, JsonWriter* w) {
  const IndexEntry& entry = counted.live.entry;
  w->BeginObject();
  w->Add("name", entry.name);
  if (entry.version >= 0) w->Add("version", absl::StrCat(entry.version));
  w->Add("state", entry.state);
  w->Add("reason", entry.reason);
  if (counted.live.memory_bytes.has_value()) w->Add("memory_bytes", *counted.live.memory_bytes);
  if (counted.live.model != nullptr) {
    ManagedModel& model = *counted.live.model;
    const ManagedModel::Work work = model.work(now);
    w->Add("in_flight", model.InFlight());
    w->Add("instances", work.instances);
    w->Add("busy_ns", work.busy_ns);
    WriteCounters(counted.statistics, w);
    if (model.recorder().enabled()) WriteRecent(model, RecentWorkOf(model, ToNanos(now)), w);
  }
  w->EndObject();
}

}  // namespace

void KeepLatest(size_t most, std::vector<CountedModel>* models) {
  const auto key = [](const CountedModel& each) {
    return std::tie(each.live.entry.name, each.live.entry.version);
  };
  const auto by_name = [&](const CountedModel& a, const CountedModel& b) {
    return key(a) < key(b);
  };
  if (models->size() > most) {
    const auto end = models->begin() + static_cast<ptrdiff_t>(most);
    std::nth_element(models->begin(), end, models->end(),
                     [&](const CountedModel& a, const CountedModel& b) {
                       const uint64_t of_a = a.statistics.last_inference_ms;
                       const uint64_t of_b = b.statistics.last_inference_ms;
                       return of_a != of_b ? of_a > of_b : by_name(a, b);
                     });
    models->erase(end, models->end());
  }
  std::stable_sort(models->begin(), models->end(), by_name);
}

std::string LiveJsonOf(const LiveServer& server, std::vector<LiveModel> models, TimePoint now,
                       RecordClock clock) {
  std::vector<CountedModel> counted;
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
  KeepLatest(kMostLiveModels, &counted);
  w.Add("not_shown", all - counted.size());
  w.BeginArray("models");
  for (const CountedModel& each : counted) WriteModel(each, now, &w);
  w.EndArray();
  w.EndObject();
  return text;
}

std::string LogJsonOf(const LogTail::Lines& read, RecordClock clock) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  WriteClock(clock, &w);
  w.Add("dropped", read.dropped);
  w.BeginArray("lines");
  for (const LogLine& line : read.lines) {
    w.BeginObject();
    w.Add("number", line.number);
    w.Add("unix_us", line.unix_us);
    w.Add("level", line.level);
    if (!line.place.empty()) w.Add("place", line.place);
    w.Add("message", line.message);
    if (!line.request_id.empty()) w.Add("request_id", line.request_id);
    if (!line.model.empty()) w.Add("model", line.model);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return text;
}

}  // namespace nereid
