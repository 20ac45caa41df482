// SPDX-License-Identifier: Apache-2.0
#include "server/reports.h"

#include <absl/strings/str_cat.h>

#include "base/json_writer.h"

namespace nereid {
namespace {

void Write(const char* key, const StatDuration& duration, JsonWriter* w) {
  w->BeginObject(key);
  w->Add("count", duration.count);
  w->Add("ns", duration.ns);
  w->EndObject();
}

void WriteTensors(const char* key, const std::vector<TensorMetadata>& tensors, JsonWriter* w) {
  w->BeginArray(key);
  for (const TensorMetadata& tensor : tensors) {
    w->BeginObject();
    w->Add("name", tensor.name);
    w->Add("datatype", DataTypeName(tensor.data_type));
    w->BeginArray("shape");
    for (const int64_t dim : tensor.shape) w->Int(dim);
    w->EndArray();
    w->EndObject();
  }
  w->EndArray();
}

void WriteInferStats(const StatisticsSnapshot& s, JsonWriter* w) {
  w->BeginObject("inference_stats");
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
  w->BeginObject("response_stats");
  for (const auto& [index, response] : s.responses) {
    w->BeginObject(absl::StrCat(index));
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
  w->BeginArray("batch_stats");
  for (const auto& [size, batch] : s.batches) {
    w->BeginObject();
    w->Add("batch_size", size);
    Write("compute_input", batch.compute_input, w);
    Write("compute_infer", batch.compute_infer, w);
    Write("compute_output", batch.compute_output, w);
    w->EndObject();
  }
  w->EndArray();
}

void WriteMemoryUsage(const std::vector<MemoryUsage>& usage, JsonWriter* w) {
  w->BeginArray("memory_usage");
  for (const MemoryUsage& entry : usage) {
    w->BeginObject();
    w->Add("type", entry.type);
    w->Add("id", entry.id);
    w->Add("byte_size", entry.byte_size);
    w->EndObject();
  }
  w->EndArray();
}

}  // namespace

std::string ToJson(const ServerMetadata& metadata) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Add("name", metadata.name);
  w.Add("version", metadata.version);
  w.BeginArray("extensions");
  for (const std::string& extension : metadata.extensions) w.String(extension);
  w.EndArray();
  w.EndObject();
  return json;
}

std::string ToJson(const ModelMetadata& metadata) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.Add("name", metadata.name);
  w.BeginArray("versions");
  for (const int64_t version : metadata.versions) w.String(absl::StrCat(version));
  w.EndArray();
  w.Add("platform", metadata.platform);
  WriteTensors("inputs", metadata.inputs, &w);
  WriteTensors("outputs", metadata.outputs, &w);
  w.EndObject();
  return json;
}

std::string ToJson(const std::vector<ModelStatisticsReport>& statistics) {
  std::string json;
  JsonWriter w(&json);
  w.BeginObject();
  w.BeginArray("model_stats");
  for (const ModelStatisticsReport& report : statistics) {
    const StatisticsSnapshot& s = report.statistics;
    w.BeginObject();
    w.Add("name", report.name);
    w.Add("version", absl::StrCat(report.version));
    w.Add("last_inference", s.last_inference_ms);
    w.Add("inference_count", s.inference_count);
    w.Add("execution_count", s.execution_count);
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
    w.Add("name", entry.name);
    if (entry.version >= 0) {
      w.Add("version", absl::StrCat(entry.version));
    }
    if (!entry.state.empty()) {
      w.Add("state", entry.state);
    }
    if (!entry.reason.empty()) {
      w.Add("reason", entry.reason);
    }
    w.EndObject();
  }
  w.EndArray();
  return json;
}

}  // namespace nereid
