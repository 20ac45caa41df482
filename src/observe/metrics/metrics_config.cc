// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics/metrics_config.h"

#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/charconv.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cmath>
#include <optional>
#include <utility>

#include "base/log.h"

namespace nereid {
namespace {

constexpr absl::string_view kQuantiles = "summary_quantiles";

struct Switch {
  absl::string_view name;
  bool MetricsConfig::*target;
};

constexpr Switch kSwitches[] = {
    {"counter_latencies", &MetricsConfig::counter_latencies},
    {"summary_latencies", &MetricsConfig::summary_latencies},
    {"histogram_latencies", &MetricsConfig::histogram_latencies},
    {"latency_histograms", &MetricsConfig::latency_histograms},
};

absl::Status SetSwitch(absl::string_view name, absl::string_view value, bool* target) {
  if (value != "true" && value != "false") {
    return absl::InvalidArgumentError(
        absl::StrCat("metrics setting '", name, "' expects 'true' or 'false', got '", value, "'"));
  }
  *target = value == "true";
  return absl::OkStatus();
}

// The number with which `text` begins. What follows it is ignored, as Triton does: its own
// tests write errors like 0.0.1.
std::optional<double> LeadingNumber(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  double number = 0;
  const absl::from_chars_result read =
      absl::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

// The quantile of one pair "<quantile>:<error>". The error has to be there, but has no influence:
// docs/reference/metrics.md says how exact the quantiles are.
std::optional<double> ReadPair(absl::string_view pair) {
  const std::vector<absl::string_view> parts = absl::StrSplit(pair, ':');
  if (parts.size() != 2 || !LeadingNumber(parts[1]).has_value()) return std::nullopt;
  const std::optional<double> quantile = LeadingNumber(parts[0]);
  if (!quantile.has_value() || *quantile < 0 || *quantile > 1) return std::nullopt;
  return quantile;
}

absl::Status SetQuantiles(absl::string_view value, std::vector<double>* target) {
  std::vector<double> quantiles;
  for (const absl::string_view pair : absl::StrSplit(value, ',')) {
    const std::optional<double> quantile = ReadPair(pair);
    if (!quantile.has_value()) {
      LOG_WARNING << "metrics setting '" << kQuantiles << "': '" << pair
                  << "' is no <quantile>:<error> with a quantile from 0 to 1 and is left out";
    } else if (!absl::c_linear_search(quantiles, *quantile)) {
      quantiles.push_back(*quantile);
    }
  }
  if (quantiles.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "metrics setting '", kQuantiles, "' expects <quantile>:<error>,..., got '", value, "'"));
  }
  *target = std::move(quantiles);
  return absl::OkStatus();
}

}  // namespace

absl::Status MetricsConfig::Set(absl::string_view name, absl::string_view value) {
  for (const Switch& known : kSwitches) {
    if (known.name == name) return SetSwitch(name, value, &(this->*known.target));
  }
  if (name == kQuantiles) return SetQuantiles(value, &summary_quantiles);
  return absl::InvalidArgumentError(
      absl::StrCat("unknown metrics setting '", name,
                   "', the settings are 'counter_latencies', 'summary_latencies', "
                   "'summary_quantiles', 'histogram_latencies' and 'latency_histograms'"));
}

}  // namespace nereid
