#include "server/reports.h"

#include <absl/strings/str_cat.h>

#include "base/json_writer.h"

namespace nereid {
namespace {

void Write(const char* key, const StatDuration& duration, JsonWriter* w) {
  w->Key(key);
  w->BeginObject();
  w->Key("count");
  w->Uint(duration.count);
  w->Key("ns");
  w->Uint(duration.ns);
  w->EndObject();
}

void WriteTensors(const char* key, const std::vector<TensorMetadata>& tensors, JsonWriter* w) {
  w->Key(key);
  w->BeginArray();
  for (const TensorMetadata& tensor : tensors) {
    w->BeginObject();
    w->Key("name");
    w->String(tensor.name);
    w->Key("datatype");
    w->String(DataTypeName(tensor.data_type));
    w->Key("shape");
    w->BeginArray();
    for (const int64_t dim : tensor.shape) w->Int(dim);
    w->EndArray();
    w->EndObject();
  }
  w->EndArray();
}

void WriteInferStats(const StatisticsSnapshot& s, JsonWriter* w) {
  w->Key("inference_stats");
  w->BeginObject();
  Write("success", s.success, w);
  Write("fail", s.fail, w);
  Write("queue", s.queue, w);
  Write("compute_input", s.compute_input, w);
  Write("compute_infer", s.compute_infer, w);
  Write("compute_output", s.compute_output, w);
  Write("cache_hit", s.cache_hit, w);
  Write("cache_miss", s.cache_miss, w);
  w->EndObject();
}

void WriteResponseStats(const StatisticsSnapshot& s, JsonWriter* w) {
  w->Key("response_stats");
  w->BeginObject();
  for (const auto& [index, response] : s.responses) {
    w->Key(absl::StrCat(index));
    w->BeginObject();
    Write("compute_infer", response.compute_infer, w);
    Write("compute_output", response.compute_output, w);
    Write("success", response.success, w);
    Write("fail", response.fail, w);
    Write("empty_response", response.empty_response, w);
    Write("cancel", response.cancel, w);
    w->EndObject();
  }
  w->EndObject();
}

void WriteBatchStats(const StatisticsSnapshot& s, JsonWriter* w) {
  w->Key("batch_stats");
  w->BeginArray();
  for (const auto& [size, batch] : s.batches) {
    w->BeginObject();
    w->Key("batch_size");
    w->Uint(size);
    Write("compute_input", batch.compute_input, w);
    Write("compute_infer", batch.compute_infer, w);
    Write("compute_output", batch.compute_output, w);
    w->EndObject();
  }
  w->EndArray();
}

void WriteMemoryUsage(const std::vector<MemoryUsage>& usage, JsonWriter* w) {
  w->Key("memory_usage");
  w->BeginArray();
  for (const MemoryUsage& entry : usage) {
    w->BeginObject();
    w->Key("type");
    w->String(entry.type);
    w->Key("id");
    w->Int(entry.id);
    w->Key("byte_size");
    w->Uint(entry.byte_size);
    w->EndObject();
  }
  w->EndArray();
}

}  // namespace

std::string ToJson(const ServerMetadata& metadata) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Key("name");
  w.String(metadata.name);
  w.Key("version");
  w.String(metadata.version);
  w.Key("extensions");
  w.BeginArray();
  for (const std::string& extension : metadata.extensions) w.String(extension);
  w.EndArray();
  w.EndObject();
  return json;
}

std::string ToJson(const ModelMetadata& metadata) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Key("name");
  w.String(metadata.name);
  w.Key("versions");
  w.BeginArray();
  for (const int64_t version : metadata.versions) w.String(absl::StrCat(version));
  w.EndArray();
  w.Key("platform");
  w.String(metadata.platform);
  WriteTensors("inputs", metadata.inputs, &w);
  WriteTensors("outputs", metadata.outputs, &w);
  w.EndObject();
  return json;
}

std::string ToJson(const std::vector<ModelStatisticsReport>& statistics) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Key("model_stats");
  w.BeginArray();
  for (const ModelStatisticsReport& report : statistics) {
    const StatisticsSnapshot& s = report.statistics;
    w.BeginObject();
    w.Key("name");
    w.String(report.name);
    w.Key("version");
    w.String(absl::StrCat(report.version));
    w.Key("last_inference");
    w.Uint(s.last_inference_ms);
    w.Key("inference_count");
    w.Uint(s.inference_count);
    w.Key("execution_count");
    w.Uint(s.execution_count);
    WriteInferStats(s, &w);
    WriteResponseStats(s, &w);
    WriteBatchStats(s, &w);
    WriteMemoryUsage(report.memory_usage, &w);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
  return json;
}

std::string ToJson(const std::vector<IndexEntry>& index) {
  std::string json;
  JsonWriter w(&json);
  w.BeginArray();
  for (const IndexEntry& entry : index) {
    w.BeginObject();
    w.Key("name");
    w.String(entry.name);
    if (entry.version >= 0) {
      w.Key("version");
      w.String(absl::StrCat(entry.version));
    }
    if (!entry.state.empty()) {
      w.Key("state");
      w.String(entry.state);
    }
    if (!entry.reason.empty()) {
      w.Key("reason");
      w.String(entry.reason);
    }
    w.EndObject();
  }
  w.EndArray();
  return json;
}

}  // namespace nereid
