// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <array>

#include "base/status_macros.h"
#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

// The level is what several words say together.
absl::Status AddLevel(absl::string_view value, Settings* s) {
  ASSIGN_OR_RETURN(const uint32_t level, ParseTraceLevel(value));
  s->trace.settings.level |= level;
  return absl::OkStatus();
}

template <typename Integer>
absl::Status SetNumber(absl::string_view value, int64_t low, Integer* target) {
  int64_t number = 0;
  RETURN_IF_ERROR(ParseInteger(value, low, kMaxInt, &number));
  *target = static_cast<Integer>(number);
  return absl::OkStatus();
}

absl::Status SetMode(absl::string_view value, Settings* s) {
  ASSIGN_OR_RETURN(s->trace.mode, ParseTraceMode(value));
  return absl::OkStatus();
}

absl::Status AddResource(absl::string_view value, Settings* s) {
  const size_t equals = value.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a resource has the form <name>=<value>. Got ", value));
  }
  s->trace.otlp.resource[std::string(value.substr(0, equals))] =
      std::string(value.substr(equals + 1));
  return absl::OkStatus();
}

// One setting of --trace-config: what stands before the '=', and what takes the value.
struct TraceSettingRow {
  const char* mode;  // "": of all modes
  const char* name;
  absl::Status (*set)(absl::string_view value, Settings* s);
};

constexpr std::array kTraceSettings = {
    TraceSettingRow{"", "mode", &SetMode},
    TraceSettingRow{"", "level", &AddLevel},
    TraceSettingRow{"", "rate",
                    [](absl::string_view value, Settings* s) {
                      return SetNumber(value, 0, &s->trace.settings.rate);
                    }},
    TraceSettingRow{"", "count",
                    [](absl::string_view value, Settings* s) {
                      return SetNumber(value, -1, &s->trace.settings.count);
                    }},
    TraceSettingRow{"triton", "file",
                    [](absl::string_view value, Settings* s) {
                      s->trace.file = std::string(value);
                      return absl::OkStatus();
                    }},
    TraceSettingRow{"triton", "log-frequency",
                    [](absl::string_view value, Settings* s) {
                      return SetNumber(value, 0, &s->trace.settings.log_frequency);
                    }},
    TraceSettingRow{"opentelemetry", "url",
                    [](absl::string_view value, Settings* s) {
                      s->trace.otlp.url = std::string(value);
                      return absl::OkStatus();
                    }},
    TraceSettingRow{"opentelemetry", "resource", &AddResource},
    TraceSettingRow{"opentelemetry", "bsp_max_queue_size",
                    [](absl::string_view value, Settings* s) {
                      return SetNumber(value, 1, &s->trace.otlp.max_queue_size);
                    }},
    TraceSettingRow{"opentelemetry", "bsp_schedule_delay",
                    [](absl::string_view value, Settings* s) {
                      return SetNumber(value, 0, &s->trace.otlp.schedule_delay_ms);
                    }},
    TraceSettingRow{"opentelemetry", "bsp_max_export_batch_size",
                    [](absl::string_view value, Settings* s) {
                      return SetNumber(value, 1, &s->trace.otlp.max_export_batch_size);
                    }},
};

absl::Status SetTraceConfig(absl::string_view value, Settings* s) {
  const size_t comma = value.find(',');
  const size_t equals = value.find('=');
  std::string mode;
  absl::string_view setting = value;
  // A comma after the '=' belongs to the value and does not end a mode.
  if (comma != absl::string_view::npos && (equals == absl::string_view::npos || comma < equals)) {
    mode = std::string(value.substr(0, comma));
    setting = value.substr(comma + 1);
    if (mode.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("No trace mode specified. --trace-config option format is <trace "
                       "mode>,<setting>=<value> or <setting>=<value>. Got ",
                       value, "\n"));
    }
    RETURN_IF_ERROR(ParseTraceMode(mode).status());
    absl::AsciiStrToLower(&mode);
  }
  const size_t end = setting.find('=');
  if (end == absl::string_view::npos || end == 0 || end + 1 == setting.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--trace-config option format is '<trace mode>,<setting>=<value>'. Got ", value, "\n"));
  }
  const absl::string_view name = setting.substr(0, end);
  for (const TraceSettingRow& row : kTraceSettings) {
    if (row.name != name || row.mode != mode) continue;
    const absl::Status set = row.set(setting.substr(end + 1), s);
    if (set.ok()) return set;
    return absl::InvalidArgumentError(absl::StrCat("Bad option: \"--trace-config ", mode,
                                                   mode.empty() ? "" : ",", name, "\".\n",
                                                   set.message()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--trace-config has no setting '", name, "'",
                   mode.empty() ? "" : absl::StrCat(" of mode ", mode)));
}

// "Off" among the words of the old option wins.
Flag OldLevel(Flag flag, Settings* s) {
  flag.set = [s, set = std::move(flag.set)](absl::string_view value) {
    RETURN_IF_ERROR(set(value));
    const absl::StatusOr<uint32_t> level = ParseTraceLevel(value);
    s->trace_off = s->trace_off || *level == 0;
    if (s->trace_off) s->trace.settings.level = 0;
    return absl::OkStatus();
  };
  return flag;
}

Flag Old(Settings* s, const char* name, const char* argument, const char* setting,
         const char* config) {
  return Deprecated(&s->deprecations, absl::StrCat("--trace-config ", setting),
                    {name, argument, "", absl::StrCat("Deprecated: --trace-config=", config, "."),
                     [s, setting = std::string(setting)](absl::string_view value) {
                       return SetTraceConfig(absl::StrCat(setting, value), s);
                     }});
}

}  // namespace

FlagGroup TraceFlags(Settings* s) {
  return {
      "Traces",
      {Repeated(
           {"trace-config", "<string>", "",
            "<setting>=<value>, or <mode>,<setting>=<value> for a setting of one mode. May be "
            "given "
            "several times: level=OFF, TIMESTAMPS or TENSORS (both together if given twice), "
            "rate=N traces one of N requests (1000), count=N so many of them (-1: any number), "
            "triton,file=PATH is where they go, triton,log-frequency=N makes a numbered file of "
            "each N (0: one file); mode=opentelemetry sends them to opentelemetry,url=URL "
            "(http://localhost:4318/v1/traces), with opentelemetry,resource=NAME=VALUE and the "
            "numbers opentelemetry,bsp_max_queue_size (2048), bsp_schedule_delay (5000 ms) and "
            "bsp_max_export_batch_size (512).",
            [s](absl::string_view value) { return SetTraceConfig(value, s); }}),
       Old(s, "trace-file", kFileArgument, "triton,file=", "triton,file=PATH"),
       OldLevel(Old(s, "trace-level", "<string>", "level=", "level=LEVEL"), s),
       Old(s, "trace-rate", "<integer>", "rate=", "rate=N"),
       Old(s, "trace-count", "<integer>", "count=", "count=N"),
       Old(s, "trace-log-frequency", "<integer>",
           "triton,log-frequency=", "triton,log-frequency=N")}};
}

}  // namespace nereid
