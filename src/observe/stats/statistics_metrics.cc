// SPDX-License-Identifier: Apache-2.0
#include "observe/stats/statistics_metrics.h"

#include <absl/types/span.h>

namespace nereid {
namespace {

struct Shown {
  MetricFamily family;
  double (*read)(const StatisticsSnapshot&);
};

// Whole microseconds, as Triton reports them.
double Micros(const StatDuration& duration) { return static_cast<double>(duration.ns / 1000); }

// Metrics of requests, except the failures, which have one more label.
constexpr Shown kCounts[] = {
    {{"nv_inference_request_success", MetricKind::kCounter,
      "Number of successful inference requests, all batch sizes", MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return static_cast<double>(s.success.count); }},
    {{"nv_inference_count", MetricKind::kCounter,
      "Number of inferences performed (does not include cached requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return static_cast<double>(s.inference_count); }},
    {{"nv_inference_exec_count", MetricKind::kCounter,
      "Number of model executions performed (does not include cached requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return static_cast<double>(s.execution_count); }},
};

constexpr Shown kDurations[] = {
    {{"nv_inference_request_duration_us", MetricKind::kCounter,
      "Cumulative inference request duration in microseconds (includes cached requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return Micros(s.success); }},
    {{"nv_inference_queue_duration_us", MetricKind::kCounter,
      "Cumulative inference queuing duration in microseconds (includes cached requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return Micros(s.queue); }},
    {{"nv_inference_compute_input_duration_us", MetricKind::kCounter,
      "Cumulative compute input duration in microseconds (does not include cached requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return Micros(s.compute_input); }},
    {{"nv_inference_compute_infer_duration_us", MetricKind::kCounter,
      "Cumulative compute inference duration in microseconds (does not include cached requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return Micros(s.compute_infer); }},
    {{"nv_inference_compute_output_duration_us", MetricKind::kCounter,
      "Cumulative inference compute output duration in microseconds (does not include cached "
      "requests)",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return Micros(s.compute_output); }},
};

constexpr Shown kPending[] = {
    {{"nv_inference_pending_request_count", MetricKind::kGauge,
      "Instantaneous number of pending requests awaiting execution per-model.",
      MetricSection::kRequests},
     [](const StatisticsSnapshot& s) { return static_cast<double>(s.pending); }},
};

constexpr Shown kCache[] = {
    {{"nv_cache_num_hits_per_model", MetricKind::kCounter, "Number of cache hits per model",
      MetricSection::kCache},
     [](const StatisticsSnapshot& s) { return static_cast<double>(s.cache_hit.count); }},
    {{"nv_cache_hit_duration_per_model", MetricKind::kCounter,
      "Total cache hit duration per model, in microseconds", MetricSection::kCache},
     [](const StatisticsSnapshot& s) { return Micros(s.cache_hit); }},
    {{"nv_cache_num_misses_per_model", MetricKind::kCounter, "Number of cache misses per model",
      MetricSection::kCache},
     [](const StatisticsSnapshot& s) { return static_cast<double>(s.cache_miss.count); }},
    {{"nv_cache_miss_duration_per_model", MetricKind::kCounter,
      "Total cache miss (insert+lookup) duration per model, in microseconds",
      MetricSection::kCache},
     [](const StatisticsSnapshot& s) { return Micros(s.cache_miss); }},
};

constexpr MetricFamily kFailures = {"nv_inference_request_failure", MetricKind::kCounter,
                                    "Number of failed inference requests, all batch sizes",
                                    MetricSection::kRequests};

// By FailureReason.
constexpr const char* kFailureReasons[kFailureReasonCount] = {"REJECTED", "CANCELED", "BACKEND",
                                                              "OTHER"};

void ReportAll(absl::Span<const Shown> all, const StatisticsSnapshot& statistics,
               MetricSink* sink) {
  for (const Shown& shown : all) sink->Report(shown.family, shown.read(statistics));
}

void ReportFailures(const StatisticsSnapshot& statistics, MetricSink* sink) {
  for (size_t reason = 0; reason < kFailureReasonCount; ++reason) {
    sink->Report(kFailures, static_cast<double>(statistics.failures[reason]),
                 {{"reason", kFailureReasons[reason]}});
  }
}

}  // namespace

void ReportRequests(const StatisticsSnapshot& statistics, MetricSink* sink) {
  const absl::Span<const Shown> counts = kCounts;
  ReportAll(counts.first(1), statistics, sink);
  ReportFailures(statistics, sink);
  ReportAll(counts.subspan(1), statistics, sink);
  ReportAll(kPending, statistics, sink);
}

void ReportDurations(const StatisticsSnapshot& statistics, MetricSink* sink) {
  ReportAll(kDurations, statistics, sink);
}

void ReportCache(const StatisticsSnapshot& statistics, MetricSink* sink) {
  ReportAll(kCache, statistics, sink);
}

}  // namespace nereid
