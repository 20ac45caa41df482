// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/load_metrics.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <map>
#include <utility>

#include "base/json_writer.h"

namespace nereid {
namespace {

constexpr char kFormatHeader[] = "endpoint-load-metrics-format";
constexpr char kMetricsHeader[] = "endpoint-load-metrics";
constexpr char kBlocksFamily[] = "nv_trt_llm_kv_cache_block_metrics";
constexpr char kBlockTypeLabel[] = "kv_cache_block_type";

// The blocks of one model's cache.
struct Blocks {
  std::optional<double> used;
  std::optional<double> max;
  std::optional<double> tokens_per;
};

std::optional<double>* MemberFor(const std::string& type, Blocks* blocks) {
  if (type == "used") return &blocks->used;
  if (type == "max") return &blocks->max;
  return type == "tokens_per" ? &blocks->tokens_per : nullptr;
}

// The caches by their other labels: model and version.
std::map<MetricLabels, Blocks> CachesIn(absl::Span<const CustomValue> values) {
  std::map<MetricLabels, Blocks> caches;
  for (const CustomValue& value : values) {
    MetricLabels others = value.labels;
    const auto type = others.extract(kBlockTypeLabel);
    if (type.empty()) continue;
    if (auto* const member = MemberFor(type.mapped(), &caches[others])) *member = value.value;
  }
  return caches;
}

}  // namespace

LoadMetricsFormat LoadMetricsFormatOf(const HttpRequest& request) {
  const absl::string_view format = request.FindHeader(kFormatHeader).value_or("");
  if (format == "json") return LoadMetricsFormat::kJson;
  return format == "text" ? LoadMetricsFormat::kText : LoadMetricsFormat::kNone;
}

std::optional<std::string> LoadMetricsText(LoadMetricsFormat format,
                                           absl::Span<const CustomValue> values) {
  double used = 0;
  double max = 0;
  double tokens = 0;
  bool complete = false;
  for (const auto& [labels, blocks] : CachesIn(values)) {
    if (!blocks.used.has_value() || !blocks.max.has_value() || !blocks.tokens_per.has_value()) {
      continue;
    }
    complete = true;
    used += *blocks.used;
    max += *blocks.max;
    tokens += *blocks.max * *blocks.tokens_per;
  }
  // A number that no integer can hold is none of a cache.
  if (format == LoadMetricsFormat::kNone || !complete || !(tokens >= 0 && tokens < 1e18)) {
    return std::nullopt;
  }
  const double utilization = max > 0 ? used / max : 0;
  const uint64_t capacity = static_cast<uint64_t>(tokens);
  if (format == LoadMetricsFormat::kText) {
    return absl::StrFormat(
        "TEXT named_metrics.kv_cache_utilization=%f, named_metrics.max_token_capacity=%d",
        utilization, capacity);
  }
  std::string text = "JSON ";
  JsonWriter json(&text);
  json.BeginObject();
  json.BeginObject("named_metrics");
  json.Add("kv_cache_utilization", utilization);
  json.Add("max_token_capacity", capacity);
  json.EndObject();
  json.EndObject();
  return text;
}

void AddLoadMetrics(LoadMetricsFormat format, HttpResponse* response) {
  if (format == LoadMetricsFormat::kNone) return;
  auto text = LoadMetricsText(format, CustomMetrics::Global()->Values(kBlocksFamily));
  if (text.has_value()) response->headers.emplace_back(kMetricsHeader, *std::move(text));
}

}  // namespace nereid
