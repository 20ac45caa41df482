// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/metric_text.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace nereid {
namespace {

// A number as the value of a label. Never with an exponent, which people do not expect in 'le'.
void AppendNumberLabel(absl::string_view name, double value, std::string* labels) {
  absl::StrAppend(labels, labels->empty() ? "" : ",", name, "=\"");
  if (std::abs(value) < 1 && std::abs(value) >= 1e-9) {
    char buffer[64];
    const auto result =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed);
    labels->append(buffer, static_cast<size_t>(result.ptr - buffer));
  } else {
    AppendMetricValue(value, labels);
  }
  *labels += '"';
}

// `labels` with one more at their end.
std::string With(absl::string_view labels, absl::string_view name, double value) {
  std::string more(labels);
  AppendNumberLabel(name, value, &more);
  return more;
}

}  // namespace

void AppendMetricHeader(absl::string_view name, MetricKind kind, absl::string_view help,
                        std::string* out) {
  constexpr const char* kTypes[] = {"counter", "gauge", "histogram", "summary"};
  absl::StrAppend(out, "# HELP ", name, " ", help, "\n# TYPE ", name, " ",
                  kTypes[static_cast<int>(kind)], "\n");
}

void AppendMetricSample(absl::string_view name, absl::string_view labels, double value,
                        std::string* out) {
  absl::StrAppend(out, name);
  if (!labels.empty()) absl::StrAppend(out, "{", labels, "}");
  *out += ' ';
  AppendMetricValue(value, out);
  *out += '\n';
}

void AppendHistogramSamples(absl::string_view name, absl::string_view labels,
                            const HistogramNumbers& numbers, std::string* out) {
  uint64_t count = 0;
  std::string buckets;
  const std::string bucket_name = absl::StrCat(name, "_bucket");
  for (size_t i = 0; i < numbers.counts.size(); ++i) {
    count += numbers.counts[i];
    const double bound =
        i < numbers.bounds.size() ? numbers.bounds[i] : std::numeric_limits<double>::infinity();
    AppendMetricSample(bucket_name, With(labels, "le", bound), static_cast<double>(count),
                       &buckets);
  }
  AppendMetricSample(absl::StrCat(name, "_count"), labels, static_cast<double>(count), out);
  AppendMetricSample(absl::StrCat(name, "_sum"), labels, numbers.sum, out);
  *out += buckets;
}

void AppendSummarySamples(absl::string_view name, absl::string_view labels,
                          const SummaryNumbers& numbers, std::string* out) {
  AppendMetricSample(absl::StrCat(name, "_count"), labels, static_cast<double>(numbers.count), out);
  AppendMetricSample(absl::StrCat(name, "_sum"), labels, numbers.sum, out);
  for (size_t i = 0; i < numbers.quantiles.size(); ++i) {
    AppendMetricSample(name, With(labels, "quantile", numbers.quantiles[i]), numbers.values[i],
                       out);
  }
}

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

}  // namespace nereid
