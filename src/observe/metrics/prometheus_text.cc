#include "observe/metrics/prometheus_text.h"

#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nereid {
namespace {

enum class Kind { kCounter, kGauge };

struct Family {
  const char* name;
  Kind kind;
  const char* help;
  double (*read)(const ModelMetricsSample&);
};

// Microseconds from nanoseconds, in whole microseconds, as the original counts.
double Micros(const StatDuration& duration) { return static_cast<double>(duration.ns / 1000); }

// Every per-model family except the failures, which carry one more label.
constexpr Family kModelFamilies[] = {
    {"nv_inference_request_success", Kind::kCounter,
     "Number of successful inference requests, all batch sizes",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.statistics.success.count); }},
    {"nv_inference_count", Kind::kCounter,
     "Number of inferences performed (does not include cached requests)",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.statistics.inference_count); }},
    {"nv_inference_exec_count", Kind::kCounter,
     "Number of model executions performed (does not include cached requests)",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.statistics.execution_count); }},
    {"nv_inference_request_duration_us", Kind::kCounter,
     "Cumulative inference request duration in microseconds (includes cached requests)",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.success); }},
    {"nv_inference_queue_duration_us", Kind::kCounter,
     "Cumulative inference queuing duration in microseconds (includes cached requests)",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.queue); }},
    {"nv_inference_compute_input_duration_us", Kind::kCounter,
     "Cumulative compute input duration in microseconds (does not include cached requests)",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.compute_input); }},
    {"nv_inference_compute_infer_duration_us", Kind::kCounter,
     "Cumulative compute inference duration in microseconds (does not include cached requests)",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.compute_infer); }},
    {"nv_inference_compute_output_duration_us", Kind::kCounter,
     "Cumulative inference compute output duration in microseconds (does not include cached "
     "requests)",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.compute_output); }},
    {"nv_inference_pending_request_count", Kind::kGauge,
     "Instantaneous number of pending requests awaiting execution per-model.",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.statistics.pending); }},
    {"nereid_inline_execution_count", Kind::kCounter,
     "Number of model executions performed by I/O threads",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.inline_executions); }},
    {"nereid_model_requests", Kind::kGauge,
     "Requests and live sequences of the model version that are not at their end",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.open_requests); }},
    {"nv_model_load_duration_secs", Kind::kGauge, "Model load time in seconds",
     [](const ModelMetricsSample& m) { return m.load_seconds; }},
};

// Families of models that use the response cache.
constexpr Family kCacheFamilies[] = {
    {"nv_cache_num_hits_per_model", Kind::kCounter, "Number of cache hits per model",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.statistics.cache_hit.count); }},
    {"nv_cache_hit_duration_per_model", Kind::kCounter,
     "Total cache hit duration per model, in microseconds",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.cache_hit); }},
    {"nv_cache_num_misses_per_model", Kind::kCounter, "Number of cache misses per model",
     [](const ModelMetricsSample& m) {
       return static_cast<double>(m.statistics.cache_miss.count);
     }},
    {"nv_cache_miss_duration_per_model", Kind::kCounter,
     "Total cache miss (insert+lookup) duration per model, in microseconds",
     [](const ModelMetricsSample& m) { return Micros(m.statistics.cache_miss); }},
};

// Families of models with adaptive batching.
constexpr Family kAdaptiveFamilies[] = {
    {"nereid_adaptive_batch_delay_us", Kind::kGauge,
     "Longest wait for a batch to grow that adaptive batching has chosen, in microseconds",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.adaptive->delay_us); }},
    {"nereid_adaptive_batch_size", Kind::kGauge, "Largest batch that adaptive batching has chosen",
     [](const ModelMetricsSample& m) { return static_cast<double>(m.adaptive->batch_size); }},
};

constexpr Family kEnsembleFamilies[] = {
    {"nereid_ensemble_peak_bytes", Kind::kGauge,
     "Most bytes that tensors between the steps of an ensemble took in one request so far",
     [](const ModelMetricsSample& m) { return static_cast<double>(*m.peak_step_bytes); }},
};

// By FailureReason.
constexpr const char* kFailureReasons[kFailureReasonCount] = {"REJECTED", "CANCELED", "BACKEND",
                                                              "OTHER"};

void AppendHeader(absl::string_view name, Kind kind, absl::string_view help, std::string* out) {
  absl::StrAppend(out, "# HELP ", name, " ", help, "\n# TYPE ", name, " ",
                  kind == Kind::kCounter ? "counter" : "gauge", "\n");
}

void AppendSample(absl::string_view name, absl::string_view labels, double value,
                  std::string* out) {
  absl::StrAppend(out, name);
  if (!labels.empty()) absl::StrAppend(out, "{", labels, "}");
  *out += ' ';
  AppendMetricValue(value, out);
  *out += '\n';
}

void AppendPlainGauge(absl::string_view name, absl::string_view help, double value,
                      std::string* out) {
  AppendHeader(name, Kind::kGauge, help, out);
  AppendSample(name, "", value, out);
}

void AppendModelSample(const Family& family, const ModelMetricsSample& m, std::string* out) {
  AppendSample(
      family.name,
      absl::StrCat("model=\"", EscapeLabelValue(m.model), "\",version=\"", m.version, "\""),
      family.read(m), out);
}

// Only for those models for which `has` returns true.
void AppendFamilies(absl::Span<const Family> families,
                    const std::vector<ModelMetricsSample>& models,
                    bool (*has)(const ModelMetricsSample&), std::string* out) {
  if (std::none_of(models.begin(), models.end(), has)) return;
  for (const Family& family : families) {
    AppendHeader(family.name, family.kind, family.help, out);
    for (const ModelMetricsSample& m : models) {
      if (has(m)) AppendModelSample(family, m, out);
    }
  }
}

void AppendFailures(const std::vector<ModelMetricsSample>& models, std::string* out) {
  constexpr char kName[] = "nv_inference_request_failure";
  AppendHeader(kName, Kind::kCounter, "Number of failed inference requests, all batch sizes", out);
  for (const ModelMetricsSample& m : models) {
    for (int reason = 0; reason < kFailureReasonCount; ++reason) {
      AppendSample(kName,
                   absl::StrCat("model=\"", EscapeLabelValue(m.model), "\",reason=\"",
                                kFailureReasons[reason], "\",version=\"", m.version, "\""),
                   static_cast<double>(m.statistics.failures[static_cast<size_t>(reason)]), out);
    }
  }
}

}  // namespace

void AppendMetricValue(double value, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  constexpr double kExact = 9007199254740992;  // 2^53
  char buffer[32];
  char* const end = buffer + sizeof(buffer);
  const bool whole = value > -kExact && value < kExact && std::trunc(value) == value;
  const auto result = whole ? std::to_chars(buffer, end, static_cast<int64_t>(value))
                            : std::to_chars(buffer, end, value);
  out->append(buffer, static_cast<size_t>(result.ptr - buffer));
}

std::string EscapeLabelValue(absl::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string PrometheusText(const std::vector<ModelMetricsSample>& models,
                           const std::optional<MachineSample>& machine,
                           const std::vector<GaugeSample>& gauges) {
  std::string out;
  if (!models.empty()) {
    for (const Family& family : kModelFamilies) {
      AppendHeader(family.name, family.kind, family.help, &out);
      for (const ModelMetricsSample& m : models) AppendModelSample(family, m, &out);
      if (&family == &kModelFamilies[0]) AppendFailures(models, &out);
    }
    AppendFamilies(
        kCacheFamilies, models, [](const ModelMetricsSample& m) { return m.response_cache; }, &out);
    AppendFamilies(
        kAdaptiveFamilies, models,
        [](const ModelMetricsSample& m) { return m.adaptive.has_value(); }, &out);
    AppendFamilies(
        kEnsembleFamilies, models,
        [](const ModelMetricsSample& m) { return m.peak_step_bytes.has_value(); }, &out);
  }
  // There is no pinned memory without a GPU; dashboards still look for the pool.
  AppendPlainGauge("nv_pinned_memory_pool_total_bytes",
                   "Pinned memory pool total memory size, in bytes", 0, &out);
  AppendPlainGauge("nv_pinned_memory_pool_used_bytes",
                   "Pinned memory pool used memory size, in bytes", 0, &out);
  if (machine.has_value()) {
    AppendPlainGauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]",
                     machine->cpu_utilization, &out);
    AppendPlainGauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes",
                     static_cast<double>(machine->memory_total_bytes), &out);
    AppendPlainGauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes",
                     static_cast<double>(machine->memory_used_bytes), &out);
  }
  for (const GaugeSample& gauge : gauges) {
    AppendPlainGauge(gauge.name, gauge.help, gauge.value, &out);
  }
  return out;
}

}  // namespace nereid
