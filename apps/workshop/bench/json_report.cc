// SPDX-License-Identifier: Apache-2.0
#include "bench/json_report.h"

#include <cmath>
#include <utility>

#include "bench/text_report.h"

namespace nereid::bench {
namespace {

void Member(const char* name, double value, JsonWriter* json) {
  json->Key(name);
  // JSON knows no infinity.
  if (std::isfinite(value)) {
    json->Double(value);
  } else {
    json->Null();
  }
}

void WriteServer(const ServerTimes& times, JsonWriter* json) {
  json->BeginObject("server_us");
  Member("queue", times.queue, json);
  Member("compute_input", times.compute_input, json);
  Member("compute_infer", times.compute_infer, json);
  Member("compute_output", times.compute_output, json);
  json->EndObject();
  Member("batch_size", times.batch_size, json);
}

void WriteErrors(const ErrorCounts& errors, JsonWriter* json) {
  json->Add("errors", errors.total());
  json->BeginArray("errors_by_text");
  for (const auto& [text, count] : errors.ByCount()) {
    json->BeginObject();
    json->Add("text", text);
    json->Add("count", count);
    json->EndObject();
  }
  json->EndArray();
}

void WriteWindows(const std::vector<Window>& windows, JsonWriter* json) {
  json->BeginArray("windows");
  for (const Window& window : windows) {
    json->BeginObject();
    Member("end_s", window.end_seconds, json);
    Member("throughput", window.throughput, json);
    Member("p50_us", window.p50_us, json);
    Member("p99_us", window.p99_us, json);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

void WriteLatency(const char* name, const Histogram& histogram, JsonWriter* json) {
  json->BeginObject(name);
  Member("mean", histogram.mean() * 1e-3, json);
  for (const auto& [key, fraction] : {std::pair("p50", 0.5),
                                      {"p90", 0.9},
                                      {"p95", 0.95},
                                      {"p99", 0.99},
                                      {"p999", 0.999},
                                      {"max", 1.0}}) {
    Member(key, static_cast<double>(histogram.Percentile(fraction)) * 1e-3, json);
  }
  json->EndObject();
}

void WriteRow(const RowResult& row, JsonWriter* json) {
  json->BeginObject();
  if (row.concurrency > 0) {
    json->Add("concurrency", row.concurrency);
  } else if (row.rate > 0) {
    Member("rate", row.rate, json);
  }
  Member("seconds", row.seconds, json);
  json->Add("requests", row.latency.count());
  Member("throughput", row.throughput(), json);
  WriteLatency("latency_us", row.latency, json);
  if (row.first.count() > 0) WriteLatency("first_response_us", row.first, json);
  WriteErrors(row.errors, json);
  json->Add("unanswered", row.unanswered);
  json->Add("late", row.late);
  json->Add("stable", row.stable);
  Member("throughput_interval", row.throughput_interval, json);
  Member("latency_interval", row.latency_interval, json);
  Member("judged_percentile", row.judged_percentile, json);
  json->Add("interrupted", row.interrupted);
  json->Add("failure", row.failure);
  Member("client_cpu", row.client_cpu, json);
  if (row.server.has_value()) WriteServer(*row.server, json);
  WriteWindows(row.windows, json);
  json->EndObject();
}

std::string JsonReport(const BenchOptions& options, const std::vector<RowResult>& rows) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Add("model", options.model);
  json.Add("url", options.target.Url());
  json.Add("load", LoadText(options));
  json.BeginArray("rows");
  for (const RowResult& row : rows) WriteRow(row, &json);
  json.EndArray();
  json.EndObject();
  return text + "\n";
}

}  // namespace nereid::bench
