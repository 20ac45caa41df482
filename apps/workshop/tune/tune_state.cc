// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_state.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <cstdio>

#include "api/json_members.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/measuring_process.h"
#include "bench/tensor_file.h"

namespace nereid {
namespace {

constexpr char kFirstMember[] = "nereid_tune";
constexpr int64_t kVersion = 3;
constexpr size_t kMostBytes = 16 << 20;

void WriteWhole(const char* name, int64_t value, JsonWriter* w) { w->Add(name, value); }

template <typename T>
void ReadWhole(const JsonValue& from, const char* name, T* to) {
  int64_t value = 0;
  ReadMember(from, name, &value);
  *to = static_cast<T>(value);
}

// Members of the object that it belongs to.
void WriteEngine(const Engine& engine, JsonWriter* w) {
  WriteWhole("threads", engine.threads, w);
  w->Add("backend", engine.backend);
}

Engine ReadEngine(const JsonValue& from) {
  Engine engine;
  ReadWhole(from, "threads", &engine.threads);
  ReadMember(from, "backend", &engine.backend);
  return engine;
}

void WriteMap(const char* name, const std::map<int, double>& values, JsonWriter* w) {
  w->BeginArray(name);
  for (const auto& [at, value] : values) {
    w->BeginObject();
    w->Add("at", at);
    w->Add("value", value);
    w->EndObject();
  }
  w->EndArray();
}

void ReadMap(const JsonValue& from, const char* name, std::map<int, double>* to) {
  ReadEach(from, name, [to](const JsonValue& point) {
    int64_t at = 0;
    double value = 0;
    ReadMember(point, "at", &at);
    ReadMember(point, "value", &value);
    (*to)[static_cast<int>(at)] = value;
  });
}

void WriteSlowdown(const std::map<int, std::map<int, double>>& slowdown, JsonWriter* w) {
  w->BeginArray("slowdown");
  for (const auto& [units, by_busy] : slowdown) {
    w->BeginObject();
    WriteWhole("units", units, w);
    WriteMap("by_instances", by_busy, w);
    w->EndObject();
  }
  w->EndArray();
}

void ReadSlowdown(const JsonValue& from, std::map<int, std::map<int, double>>* to) {
  ReadEach(from, "slowdown", [to](const JsonValue& of_units) {
    int units = 0;
    ReadWhole(of_units, "units", &units);
    ReadMap(of_units, "by_instances", &(*to)[units]);
  });
}

void WriteTimes(const Engine& engine, const ServiceTimes& times, JsonWriter* w) {
  w->BeginObject();
  WriteEngine(engine, w);
  WriteMap("by_batch_us", times.by_batch_us, w);
  WriteSlowdown(times.slowdown, w);
  WriteMap("memory_mib", times.memory_mib, w);
  WriteMap("overhead_varies_us", times.overhead_varies_us, w);
  w->Add("rest_us", times.rest_us);
  w->Add("overhead_us", times.overhead_us);
  w->Add("cpu_us", times.cpu_us);
  w->Add("busy_cpu_us", times.busy_cpu_us);
  WriteWhole("processors", times.processors, w);
  w->Add("execution_processors", times.execution_processors);
  w->EndObject();
}

ServiceTimes ReadTimes(const JsonValue& from) {
  ServiceTimes times;
  ReadMap(from, "by_batch_us", &times.by_batch_us);
  ReadSlowdown(from, &times.slowdown);
  ReadMap(from, "memory_mib", &times.memory_mib);
  ReadMap(from, "overhead_varies_us", &times.overhead_varies_us);
  ReadMember(from, "rest_us", &times.rest_us);
  ReadMember(from, "overhead_us", &times.overhead_us);
  ReadMember(from, "cpu_us", &times.cpu_us);
  ReadMember(from, "busy_cpu_us", &times.busy_cpu_us);
  ReadWhole(from, "processors", &times.processors);
  ReadMember(from, "execution_processors", &times.execution_processors);
  return times;
}

void WriteModel(const LearnedModel& model, JsonWriter* w) {
  w->BeginObject();
  w->Add("config", model.config_json);
  w->BeginArray("times");
  for (const auto& [engine, times] : model.times) WriteTimes(engine, times, w);
  w->EndArray();
  w->EndObject();
}

LearnedModel ReadModel(const JsonValue& from) {
  LearnedModel model;
  ReadMember(from, "config", &model.config_json);
  ReadEach(from, "times",
           [&model](const JsonValue& times) { model.times[ReadEngine(times)] = ReadTimes(times); });
  return model;
}

void WriteCandidate(const Candidate& candidate, JsonWriter* w) {
  w->BeginObject();
  WriteWhole("instances", candidate.instances, w);
  WriteEngine(candidate.engine, w);
  WriteWhole("max_batch_size", candidate.max_batch_size, w);
  w->Add("batching", candidate.batching);
  w->BeginArray("preferred_batch_sizes");
  for (const int32_t size : candidate.preferred_batch_sizes) {
    w->BeginObject();
    WriteWhole("size", size, w);
    w->EndObject();
  }
  w->EndArray();
  WriteWhole("max_queue_delay_us", static_cast<int64_t>(candidate.max_queue_delay_us), w);
  w->EndObject();
}

Candidate ReadCandidate(const JsonValue& from) {
  Candidate candidate;
  ReadWhole(from, "instances", &candidate.instances);
  candidate.engine = ReadEngine(from);
  ReadWhole(from, "max_batch_size", &candidate.max_batch_size);
  ReadMember(from, "batching", &candidate.batching);
  ReadEach(from, "preferred_batch_sizes", [&candidate](const JsonValue& size) {
    ReadWhole(size, "size", &candidate.preferred_batch_sizes.emplace_back());
  });
  ReadWhole(from, "max_queue_delay_us", &candidate.max_queue_delay_us);
  return candidate;
}

void WriteMeasured(const TuneState::Measured& measured, JsonWriter* w) {
  const Performance& performance = measured.measurement.performance;
  const auto number = [w](const char* name, double value) { w->Add(name, value); };
  w->BeginObject();
  w->BeginArray("models");
  for (const Candidate& candidate : measured.configuration) WriteCandidate(candidate, w);
  w->EndArray();
  WriteWhole("concurrency", performance.concurrency, w);
  number("throughput", performance.throughput);
  number("p50_us", performance.p50_us);
  number("p99_us", performance.p99_us);
  number("mean_batch", performance.mean_batch);
  WriteWhole("errors", static_cast<int64_t>(measured.measurement.errors), w);
  number("memory_mib", measured.measurement.memory_mib);
  WriteWhole("times", measured.measurement.times, w);
  w->EndObject();
}

TuneState::Measured ReadMeasured(const JsonValue& from) {
  TuneState::Measured measured;
  Performance& performance = measured.measurement.performance;
  ReadEach(from, "models", [&measured](const JsonValue& candidate) {
    measured.configuration.push_back(ReadCandidate(candidate));
  });
  ReadWhole(from, "concurrency", &performance.concurrency);
  ReadMember(from, "throughput", &performance.throughput);
  ReadMember(from, "p50_us", &performance.p50_us);
  ReadMember(from, "p99_us", &performance.p99_us);
  ReadMember(from, "mean_batch", &performance.mean_batch);
  ReadWhole(from, "errors", &measured.measurement.errors);
  ReadMember(from, "memory_mib", &measured.measurement.memory_mib);
  ReadWhole(from, "times", &measured.measurement.times);
  return measured;
}

}  // namespace

const Measurement* TuneState::Find(const Configuration& configuration) const {
  for (const Measured& one : measured) {
    if (one.configuration == configuration) return &one.measurement;
  }
  return nullptr;
}

void TuneState::Put(const Configuration& configuration, const Measurement& measurement) {
  for (Measured& one : measured) {
    if (one.configuration != configuration) continue;
    one.measurement = measurement;
    return;
  }
  measured.push_back({configuration, measurement});
}

std::string TuneStateJson(const TuneState& state) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  w.Add(kFirstMember, kVersion);
  w.Add("key", state.key);
  w.BeginArray("models");
  for (const LearnedModel& model : state.models) WriteModel(model, &w);
  w.EndArray();
  if (state.ensemble.has_value()) {
    w.Key("ensemble");
    WriteModel(*state.ensemble, &w);
  }
  w.BeginArray("measured");
  for (const TuneState::Measured& measured : state.measured) WriteMeasured(measured, &w);
  w.EndArray();
  w.EndObject();
  return text + "\n";
}

absl::StatusOr<TuneState> ParseTuneState(const std::string& json) {
  JsonTree tree;
  int64_t version = 0;
  if (ParseAnswer(json, kFirstMember, &tree).ok()) ReadMember(tree, kFirstMember, &version);
  if (version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is not a state file of `nereid tune` of version ", kVersion));
  }
  TuneState state;
  ReadMember(tree, "key", &state.key);
  ReadEach(tree, "models",
           [&state](const JsonValue& model) { state.models.push_back(ReadModel(model)); });
  if (const JsonValue* const ensemble = FindMember(tree, "ensemble"); ensemble != nullptr) {
    state.ensemble = ReadModel(*ensemble);
  }
  ReadEach(tree, "measured", [&state](const JsonValue& measured) {
    state.measured.push_back(ReadMeasured(measured));
  });
  return state;
}

absl::StatusOr<TuneState> ReadTuneState(const std::string& file) {
  const absl::StatusOr<std::string> json = bench::ReadWholeFile(file, kMostBytes);
  if (!json.ok()) return absl::InvalidArgumentError(json.status().message());
  return ParseTuneState(*json);
}

absl::StatusOr<TuneState> LoadTuneState(const std::string& file, const std::string& key) {
  TuneState state;
  state.key = key;
  if (file.empty() || access(file.c_str(), F_OK) != 0) return state;
  const auto wrong = [&file](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("--state=", file, ": ", why, "; remove it, or name another file"));
  };
  const absl::StatusOr<TuneState> found = ReadTuneState(file);
  if (!found.ok()) return wrong(found.status().message());
  if (found->key != key) {
    return wrong("it is of another model, another configuration or other options");
  }
  return *found;
}

absl::Status SaveTuneState(const std::string& file, const TuneState& state) {
  if (file.empty()) return absl::OkStatus();
  const std::string part = file + ".part";
  RETURN_IF_ERROR(bench::WriteReport(part, TuneStateJson(state)));
  if (std::rename(part.c_str(), file.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write the file ", file));
}

}  // namespace nereid
