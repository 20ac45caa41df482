// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/trace_settings.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include "base/status_macros.h"
#include "observe/trace/inference_trace.h"

namespace nereid {
namespace {

// Settings are as large as Triton's, whose numbers have 32 bits with a sign.
constexpr int64_t kMostSetting = std::numeric_limits<int32_t>::max();

bool IsDecimal(absl::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

absl::StatusOr<uint32_t> ParseTraceLevel(absl::string_view word) {
  const std::string lower = absl::AsciiStrToLower(word);
  if (lower == "false" || lower == "off") return uint32_t{0};
  for (const char* old : {"true", "on", "min", "max", "timestamps"}) {
    if (lower == old) return kTraceTimestamps;
  }
  if (lower == "tensors") return kTraceTensors;
  return absl::InvalidArgumentError(absl::StrCat("invalid value for trace level option: ", word));
}

absl::StatusOr<TraceMode> ParseTraceMode(absl::string_view word) {
  const std::string lower = absl::AsciiStrToLower(word);
  if (lower == "triton") return TraceMode::kTriton;
  if (lower == "opentelemetry") return TraceMode::kOpenTelemetry;
  return absl::InvalidArgumentError(
      absl::StrCat("invalid value for trace mode option: ", word,
                   ". Available options are \"triton\" and \"opentelemetry\""));
}

absl::Status SetTraceLevel(absl::Span<const absl::string_view> words, TraceUpdate* update) {
  uint32_t level = 0;
  for (const absl::string_view word : words) {
    ASSIGN_OR_RETURN(const uint32_t bit, ParseTraceLevel(word));
    if (bit == 0 && words.size() > 1) {
      return absl::InvalidArgumentError("Expect only one trace level 'OFF' is specified");
    }
    level |= bit;
  }
  update->level = level;
  return absl::OkStatus();
}

absl::Status SetTraceNumber(absl::string_view key, absl::string_view text, TraceUpdate* update) {
  const bool is_count = key == kTraceCountKey;
  if (!IsDecimal(text)) {
    return absl::InvalidArgumentError(absl::StrCat("Unable to parse '", key, "', got: ", text));
  }
  int64_t number = 0;
  const bool fits = absl::SimpleAtoi(text, &number);
  if (is_count && fits && number < -1 && number >= -kMostSetting - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to parse '", key, "'. Expecting value >= -1, got:", text));
  }
  if (!fits || number > kMostSetting || number < (is_count ? -1 : 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to parse '", key, "', value is out of range [ ",
                     is_count ? "-1, 2147483647" : "0, 4294967295", " ], got: ", text));
  }
  if (is_count) {
    update->count = number;
  } else if (key == kTraceRateKey) {
    update->rate = static_cast<uint32_t>(number);
  } else {
    update->log_frequency = static_cast<uint32_t>(number);
  }
  return absl::OkStatus();
}

void ClearTraceSetting(absl::string_view key, TraceUpdate* update) {
  // The outer optional is there, the inner one is not.
  if (key == kTraceLevelKey) update->level.emplace();
  if (key == kTraceRateKey) update->rate.emplace();
  if (key == kTraceCountKey) update->count.emplace();
  if (key == kLogFrequencyKey) update->log_frequency.emplace();
}

absl::Status TraceFileIsFixed() {
  return absl::UnimplementedError(
      "trace file location can not be updated through network protocol");
}

std::vector<std::string> TraceLevelNames(uint32_t level) {
  std::vector<std::string> names;
  if ((level & kTraceTimestamps) != 0) names.emplace_back("TIMESTAMPS");
  if ((level & kTraceTensors) != 0) names.emplace_back("TENSORS");
  if (names.empty()) names.emplace_back("OFF");
  return names;
}

}  // namespace nereid
