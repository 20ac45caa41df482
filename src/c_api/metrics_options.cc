// TRITONSERVER_ServerOptionsSetMetricsConfig: which latencies of models become metrics. The server
// only has counters for them, so a setting either asks for what the server does anyway, or is
// refused.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>

#include "c_api/handles.h"
#include "c_objects/error.h"

using nereid::CaughtError;
using nereid::Text;
using nereid::ToCError;

namespace {

// A setting of the global group with the values on and off.
struct Switch {
  absl::string_view name;
  bool on;  // the only supported value
};

constexpr Switch kSwitches[] = {
    {"counter_latencies", true},
    {"summary_latencies", false},
    {"histogram_latencies", false},
};

absl::Status CheckSwitch(const Switch& known, absl::string_view value) {
  if (value != "true" && value != "false") {
    return absl::InvalidArgumentError(absl::StrCat(
        "metrics setting '", known.name, "' expects 'true' or 'false', got '", value, "'"));
  }
  if ((value == "true") == known.on) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("metrics setting '", known.name, "=", value,
                                               "' is not supported, only '", known.name, "=",
                                               known.on ? "true" : "false", "' is"));
}

absl::Status CheckSetting(absl::string_view group, absl::string_view name,
                          absl::string_view value) {
  if (!group.empty()) {
    return absl::UnimplementedError(absl::StrCat("metrics settings of the group '", group,
                                                 "' are not supported, only those of the group ''"
                                                 " are"));
  }
  const auto* const known = std::find_if(std::begin(kSwitches), std::end(kSwitches),
                                         [&](const Switch& one) { return one.name == name; });
  if (known != std::end(kSwitches)) return CheckSwitch(*known, value);
  if (name == "summary_quantiles") {
    return absl::UnimplementedError(
        "metrics setting 'summary_quantiles' is not supported, because there are no summaries");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown metrics setting '", name,
                   "', the settings are 'counter_latencies', 'summary_latencies', "
                   "'summary_quantiles' and 'histogram_latencies'"));
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsConfig(TRITONSERVER_ServerOptions* options,
                                                               const char* name,
                                                               const char* setting,
                                                               const char* value) try {
  return ToCError(CheckSetting(Text(name), Text(setting), Text(value)));
} catch (...) {
  return CaughtError();
}

}  // extern "C"
