// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

// A number, or a boolean that switches it on or off.
absl::Status SetVerboseLevel(absl::string_view value, int* target) {
  int64_t level = 0;
  if (ParseInteger(value, 0, kMaxInt, &level).ok()) {
    *target = static_cast<int>(level);
    return absl::OkStatus();
  }
  bool on = false;
  const absl::Status status = ParseBool(value, &on);
  if (status.ok()) *target = on ? 1 : 0;
  return status;
}

}  // namespace

FlagGroup LogFlags(Settings* s) {
  LogSettings* const l = &s->log;
  return {
      "Logging",
      {Usual({"log-verbose", "<integer>", absl::StrCat(l->verbose_level),
              "Verbose level; 0 switches verbose messages off.",
              [l](absl::string_view value) { return SetVerboseLevel(value, &l->verbose_level); }}),
       BooleanFlag("log-info", &l->info, "Write messages of level INFO (to stdout)."),
       BooleanFlag("log-warning", &l->warning, "Write messages of level WARNING (to stderr)."),
       BooleanFlag("log-error", &l->error, "Write messages of level ERROR (to stderr)."),
       ChoiceFlag("log-format", &l->format,
                  {{"default", LogFormat::kDefault},
                   {"ISO8601", LogFormat::kIso8601},
                   {"json", LogFormat::kJson}},
                  LetterCase::kMatters,
                  "Layout of a line: default, ISO8601 or json (one object per line)."),
       OfFile(StringFlag("log-file", &l->file,
                         "File that all messages are appended to, instead of the console.")),
       OfFile(StringFlag("access-log", &s->access_log.file,
                         "File that a line is appended to for each request; '-' is the standard "
                         "output.")),
       IntegerFlag("access-log-sample", &s->access_log.sample, {1, kMaxInt},
                   "Of so many requests, one gets a line in the access log.")}};
}

}  // namespace nereid
