// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_MetricFamily*, MetricArgs* and Metric*: metrics of backends, caches and embedding
// programs. The families belong to the process, not to a server.
#include <absl/strings/str_cat.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "c_api/handles.h"
#include "c_api/parameter.h"
#include "c_objects/error.h"
#include "observe/metrics/custom_metrics.h"

using nereid::CaughtError;
using nereid::CustomFamily;
using nereid::CustomMetric;
using nereid::CustomMetrics;
using nereid::MetricKind;
using nereid::ToCError;

// Complete types behind the handles. The family is thread-safe, the others thread-compatible.
struct TRITONSERVER_MetricFamily {
  std::shared_ptr<CustomFamily> family;
  std::atomic<int64_t> metrics{0};  // metric handles of this family
};

struct TRITONSERVER_Metric {
  std::shared_ptr<CustomMetric> metric;
  TRITONSERVER_MetricFamily* family;  // outlives the metric
};

struct TRITONSERVER_MetricArgs {
  std::optional<std::vector<double>> buckets;  // of a histogram
};

namespace {

TRITONSERVER_Error* Invalid(absl::string_view message) {
  return ToCError(absl::InvalidArgumentError(message));
}

absl::StatusOr<nereid::MetricLabels> ReadLabels(const TRITONSERVER_Parameter** labels,
                                                uint64_t count) {
  nereid::MetricLabels read;
  for (uint64_t i = 0; i < count; ++i) {
    const TRITONSERVER_Parameter& parameter = *labels[i];
    const auto* const value = std::get_if<std::string>(&parameter.value);
    if (value == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("Parameter [", parameter.name,
                       "] must have a type of TRITONSERVER_PARAMETER_STRING to be added as a "
                       "label."));
    }
    read[parameter.name] = *value;
  }
  return read;
}

absl::Status CheckArgs(MetricKind kind, const TRITONSERVER_MetricArgs* args) {
  if (kind == MetricKind::kHistogram) {
    if (args == nullptr) {
      return absl::InvalidArgumentError("Bucket boundaries not found in Metric args.");
    }
    return args->buckets.has_value()
               ? absl::OkStatus()
               : absl::InvalidArgumentError("Metric args not set to histogram kind.");
  }
  if (args == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Unexpected args found in ",
                                                 kind == MetricKind::kCounter ? "counter" : "gauge",
                                                 " Metric constructor."));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(TRITONSERVER_MetricFamily** family,
                                                 const TRITONSERVER_MetricKind kind,
                                                 const char* name, const char* description) try {
  if (kind < TRITONSERVER_METRIC_KIND_COUNTER || kind > TRITONSERVER_METRIC_KIND_HISTOGRAM) {
    return Invalid("Unsupported kind passed to MetricFamily constructor.");
  }
  absl::StatusOr<std::shared_ptr<CustomFamily>> made = CustomMetrics::Global()->Family(
      static_cast<MetricKind>(kind), std::string(nereid::Text(name)),
      std::string(nereid::Text(description)));
  if (!made.ok()) return ToCError(made.status());
  *family = new TRITONSERVER_MetricFamily{*std::move(made)};
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(TRITONSERVER_MetricFamily* family) try {
  if (family != nullptr && family->metrics.load() > 0) {
    return ToCError(absl::InternalError(
        "Must call MetricDelete on all dependent metrics before calling MetricFamilyDelete."));
  }
  delete family;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_GetMetricFamilyKind(TRITONSERVER_MetricFamily* family,
                                                     TRITONSERVER_MetricKind* kind) try {
  *kind = static_cast<TRITONSERVER_MetricKind>(family->family->kind());
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsNew(TRITONSERVER_MetricArgs** args) try {
  *args = new TRITONSERVER_MetricArgs;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsSetHistogram(TRITONSERVER_MetricArgs* args,
                                                        const double* buckets,
                                                        const uint64_t buckets_count) try {
  std::vector<double> taken;
  taken.reserve(buckets_count);  // refuses what no memory holds before its end is computed
  taken.assign(buckets, buckets + buckets_count);
  args->buckets = std::move(taken);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricArgsDelete(TRITONSERVER_MetricArgs* args) try {
  delete args;
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricNewWithArgs(TRITONSERVER_Metric** metric,
                                                   TRITONSERVER_MetricFamily* family,
                                                   const TRITONSERVER_Parameter** labels,
                                                   const uint64_t label_count,
                                                   const TRITONSERVER_MetricArgs* args) try {
  absl::StatusOr<nereid::MetricLabels> read = ReadLabels(labels, label_count);
  if (!read.ok()) return ToCError(read.status());
  const absl::Status fits = CheckArgs(family->family->kind(), args);
  if (!fits.ok()) return ToCError(fits);
  absl::StatusOr<std::shared_ptr<CustomMetric>> made =
      family->family->Metric(*read, args == nullptr ? std::vector<double>() : *args->buckets);
  if (!made.ok()) return ToCError(made.status());
  *metric = new TRITONSERVER_Metric{*std::move(made), family};
  family->metrics.fetch_add(1);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricNew(TRITONSERVER_Metric** metric,
                                           TRITONSERVER_MetricFamily* family,
                                           const TRITONSERVER_Parameter** labels,
                                           const uint64_t label_count) try {
  return TRITONSERVER_MetricNewWithArgs(metric, family, labels, label_count, nullptr);
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric) try {
  if (metric == nullptr) return nullptr;
  TRITONSERVER_MetricFamily* const family = metric->family;
  delete metric;
  family->metrics.fetch_sub(1);
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricValue(TRITONSERVER_Metric* metric, double* value) try {
  const absl::StatusOr<double> read = metric->metric->Value();
  if (read.ok()) *value = *read;
  return ToCError(read.status());
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric, double value) try {
  return ToCError(metric->metric->Increment(value));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric, double value) try {
  return ToCError(metric->metric->Set(value));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_MetricObserve(TRITONSERVER_Metric* metric, double value) try {
  return ToCError(metric->metric->Observe(value));
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Error* TRITONSERVER_GetMetricKind(TRITONSERVER_Metric* metric,
                                               TRITONSERVER_MetricKind* kind) try {
  *kind = static_cast<TRITONSERVER_MetricKind>(metric->metric->kind());
  return nullptr;
} catch (...) {
  return CaughtError();
}

}  // extern "C"
