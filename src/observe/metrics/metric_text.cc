#include "observe/metrics/metric_text.h"

#include <absl/strings/str_cat.h>

#include <charconv>
#include <cmath>
#include <cstdint>

namespace nereid {

void AppendMetricHeader(absl::string_view name, MetricKind kind, absl::string_view help,
                        std::string* out) {
  constexpr const char* kTypes[] = {"counter", "gauge", "histogram"};
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
