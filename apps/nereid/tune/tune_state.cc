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
constexpr int64_t kVersion = 1;
constexpr size_t kMostBytes = 16 << 20;

void WriteMap(const char* name, const std::map<int, double>& values, JsonWriter* w) {
  w->Key(name);
  w->BeginArray();
  for (const auto& [at, value] : values) {
    w->BeginObject();
    w->Key("at");
    w->Int(at);
    w->Key("value");
    w->Double(value);
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

void WriteTimes(const ServiceTimes& times, JsonWriter* w) {
  w->Key("times");
  w->BeginObject();
  WriteMap("by_batch_us", times.by_batch_us, w);
  WriteMap("slowdown", times.slowdown, w);
  WriteMap("memory_mib", times.memory_mib, w);
  w->Key("overhead_us");
  w->Double(times.overhead_us);
  w->Key("cpu_us");
  w->Double(times.cpu_us);
  w->Key("processors");
  w->Int(times.processors);
  w->EndObject();
}

ServiceTimes ReadTimes(const JsonValue& from) {
  ServiceTimes times;
  ReadMap(from, "by_batch_us", &times.by_batch_us);
  ReadMap(from, "slowdown", &times.slowdown);
  ReadMap(from, "memory_mib", &times.memory_mib);
  ReadMember(from, "overhead_us", &times.overhead_us);
  ReadMember(from, "cpu_us", &times.cpu_us);
  int64_t processors = 0;
  ReadMember(from, "processors", &processors);
  times.processors = static_cast<int>(processors);
  return times;
}

void WriteMeasured(const TuneState::Measured& measured, JsonWriter* w) {
  const Candidate& candidate = measured.candidate;
  const Performance& performance = measured.measurement.performance;
  w->BeginObject();
  const auto number = [w](const char* name, double value) {
    w->Key(name);
    w->Double(value);
  };
  const auto whole = [w](const char* name, int64_t value) {
    w->Key(name);
    w->Int(value);
  };
  whole("instances", candidate.instances);
  whole("max_batch_size", candidate.max_batch_size);
  w->Key("batching");
  w->Bool(candidate.batching);
  w->Key("preferred_batch_sizes");
  w->BeginArray();
  for (const int32_t size : candidate.preferred_batch_sizes) {
    w->BeginObject();
    whole("size", size);
    w->EndObject();
  }
  w->EndArray();
  whole("max_queue_delay_us", static_cast<int64_t>(candidate.max_queue_delay_us));
  whole("concurrency", performance.concurrency);
  number("throughput", performance.throughput);
  number("p50_us", performance.p50_us);
  number("p99_us", performance.p99_us);
  number("mean_batch", performance.mean_batch);
  whole("errors", static_cast<int64_t>(measured.measurement.errors));
  number("memory_mib", measured.measurement.memory_mib);
  w->EndObject();
}

TuneState::Measured ReadMeasured(const JsonValue& from) {
  TuneState::Measured measured;
  Candidate& candidate = measured.candidate;
  Performance& performance = measured.measurement.performance;
  const auto whole = [&from](const char* name, auto* to) {
    int64_t value = 0;
    ReadMember(from, name, &value);
    *to = static_cast<std::remove_pointer_t<decltype(to)>>(value);
  };
  whole("instances", &candidate.instances);
  whole("max_batch_size", &candidate.max_batch_size);
  ReadMember(from, "batching", &candidate.batching);
  ReadEach(from, "preferred_batch_sizes", [&candidate](const JsonValue& size) {
    int64_t value = 0;
    ReadMember(size, "size", &value);
    candidate.preferred_batch_sizes.push_back(static_cast<int32_t>(value));
  });
  whole("max_queue_delay_us", &candidate.max_queue_delay_us);
  whole("concurrency", &performance.concurrency);
  ReadMember(from, "throughput", &performance.throughput);
  ReadMember(from, "p50_us", &performance.p50_us);
  ReadMember(from, "p99_us", &performance.p99_us);
  ReadMember(from, "mean_batch", &performance.mean_batch);
  whole("errors", &measured.measurement.errors);
  ReadMember(from, "memory_mib", &measured.measurement.memory_mib);
  return measured;
}

}  // namespace

const Measurement* TuneState::Find(const Candidate& candidate) const {
  for (const Measured& one : measured) {
    if (one.candidate == candidate) return &one.measurement;
  }
  return nullptr;
}

std::string TuneStateJson(const TuneState& state) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject();
  w.Key(kFirstMember);
  w.Int(kVersion);
  w.Key("key");
  w.String(state.key);
  w.Key("config");
  w.String(state.config_json);
  if (state.times.has_value()) WriteTimes(*state.times, &w);
  w.Key("measured");
  w.BeginArray();
  for (const TuneState::Measured& measured : state.measured) WriteMeasured(measured, &w);
  w.EndArray();
  w.EndObject();
  return text + "\n";
}

absl::StatusOr<TuneState> ParseTuneState(const std::string& json) {
  rapidjson::Document tree;
  int64_t version = 0;
  if (ParseAnswer(json, kFirstMember, &tree).ok()) ReadMember(tree, kFirstMember, &version);
  if (version != kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("it is no state of `nereid tune` of version ", kVersion));
  }
  TuneState state;
  ReadMember(tree, "key", &state.key);
  ReadMember(tree, "config", &state.config_json);
  if (const JsonValue* const times = FindMember(tree, "times"); times != nullptr) {
    state.times = ReadTimes(*times);
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
