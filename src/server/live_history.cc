// SPDX-License-Identifier: Apache-2.0
#include "server/live_history.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/json_writer.h"
#include "lifecycle/model/managed_model.h"
#include "server/recorded_json.h"

namespace nereid {
namespace {

ModelSample SampleOf(const CountedModel& serving, TimePoint now) {
  ManagedModel& model = *serving.live.model;
  const ManagedModel::Work work = model.work(now);
  ModelSample sample;
  sample.name = serving.live.entry.name;
  sample.version = serving.live.entry.version;
  sample.counts = {serving.statistics.success.count, serving.statistics.fail.count,
                   static_cast<uint64_t>(model.InFlight()), serving.statistics.pending};
  sample.instances = static_cast<uint64_t>(work.instances);
  sample.busy_ns = static_cast<uint64_t>(work.busy_ns);
  for (const auto& [size, batch] : serving.statistics.batches) {
    sample.batches += batch.compute_infer.count;
    sample.units += size * batch.compute_infer.count;
  }
  if (model.recorder().enabled()) sample.latency = RecentLatencyOf(model, ToNanos(now));
  return sample;
}

void WriteCounts(const LiveCounts& counts, JsonWriter* w) {
  w->Add("succeeded", counts.succeeded);
  w->Add("failed", counts.failed);
  w->Add("queued", counts.queued);
  w->Add("in_flight", counts.in_flight);
}

void WriteModel(const ModelSample& model, JsonWriter* w) {
  w->BeginObject();
  w->Add("name", model.name);
  w->Add("version", absl::StrCat(model.version));
  WriteCounts(model.counts, w);
  w->Add("instances", model.instances);
  w->Add("busy_ns", model.busy_ns);
  w->Add("batches", model.batches);
  w->Add("units", model.units);
  if (model.latency.has_value()) {
    w->BeginObject("latency_ns");
    w->Add("p50", model.latency->p50);
    w->Add("p90", model.latency->p90);
    w->Add("p99", model.latency->p99);
    w->EndObject();
  }
  w->EndObject();
}

}  // namespace

LiveSample LiveSampleOf(const LiveServer& server, std::vector<LiveModel> models, TimePoint now,
                        RecordClock clock) {
  LiveSample sample;
  sample.clock = clock;
  sample.server.in_flight = server.requests;
  std::vector<CountedModel> serving;
  for (LiveModel& live : models) {
    if (live.model == nullptr) continue;
    StatisticsSnapshot statistics = live.model->statistics().Snapshot();
    sample.server.succeeded += statistics.success.count;
    sample.server.failed += statistics.fail.count;
    sample.server.queued += statistics.pending;
    serving.push_back({std::move(live), std::move(statistics)});
  }
  KeepLatest(LiveHistory::kMostModels, &serving);
  for (const CountedModel& each : serving) sample.models.push_back(SampleOf(each, now));
  return sample;
}

void LiveHistory::Add(LiveSample sample) {
  LiveSample oldest;  // is destroyed when the lock is free
  MutexLock lock(&mu_);
  if (samples_.size() == kMostSamples) {
    oldest = std::move(samples_.front());
    samples_.pop_front();
  }
  samples_.push_back(std::move(sample));
}

std::string LiveHistory::Json(uint64_t started_ns) const {
  std::deque<LiveSample> samples;
  {
    MutexLock lock(&mu_);
    samples = samples_;
  }
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  w.Add("started_ns", started_ns);
  w.BeginArray("samples");
  for (const LiveSample& sample : samples) {
    w.BeginObject();
    WriteClock(sample.clock, &w);
    w.BeginObject("server");
    WriteCounts(sample.server, &w);
    w.EndObject();
    w.BeginArray("models");
    for (const ModelSample& model : sample.models) WriteModel(model, &w);
    w.EndArray();
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return text;
}

}  // namespace nereid
