// SPDX-License-Identifier: Apache-2.0
// TraceSettings: which requests are traced, and how. The values that clients read and change, and
// the texts of both. Plain values and pure functions.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_SETTINGS_H_
#define NEREID_FRONTENDS_TRACING_TRACE_SETTINGS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

// Where traces go: into files of Triton's format, or to a collector of OpenTelemetry.
enum class TraceMode { kTriton, kOpenTelemetry };

struct TraceSettings {
  uint32_t level = 0;          // bits of observe/trace/inference_trace.h; 0: nothing is traced
  uint32_t rate = 1000;        // one of so many requests is traced
  int64_t count = -1;          // as many traces are still made; -1: any number
  uint32_t log_frequency = 0;  // traces of a numbered file; 0: one file for all
};

// What an update says about one setting: nothing, that it is cleared (a model then follows the
// global settings, and those follow the command line), or its value.
template <typename T>
using TraceChange = std::optional<std::optional<T>>;

struct TraceUpdate {
  TraceChange<uint32_t> level;
  TraceChange<uint32_t> rate;
  TraceChange<int64_t> count;
  TraceChange<uint32_t> log_frequency;

  bool empty() const {
    return !level.has_value() && !rate.has_value() && !count.has_value() &&
           !log_frequency.has_value();
  }
};

// Names of settings in the protocols.
inline constexpr char kTraceLevelKey[] = "trace_level";
inline constexpr char kTraceRateKey[] = "trace_rate";
inline constexpr char kTraceCountKey[] = "trace_count";
inline constexpr char kLogFrequencyKey[] = "log_frequency";
inline constexpr char kTraceFileKey[] = "trace_file";
inline constexpr char kTraceModeKey[] = "trace_mode";
// Those that clients can change.
inline constexpr absl::string_view kTraceSettingNames[] = {kTraceLevelKey, kTraceRateKey,
                                                           kTraceCountKey, kLogFrequencyKey};
// What a name is, for those who refuse another one.
inline constexpr char kTraceSettingKind[] = "trace setting";

// The bits of one word in any case: OFF, TIMESTAMPS, TENSORS, and what older command lines say.
// INVALID_ARGUMENT for another word.
absl::StatusOr<uint32_t> ParseTraceLevel(absl::string_view word);
// "triton" or "opentelemetry" in any case; otherwise INVALID_ARGUMENT.
absl::StatusOr<TraceMode> ParseTraceMode(absl::string_view word);

// What a client has sent for one setting becomes part of `update`. INVALID_ARGUMENT for values that
// it cannot have.
absl::Status SetTraceLevel(absl::Span<const absl::string_view> words, TraceUpdate* update);
// `key` is that of a number; `text` is decimal.
absl::Status SetTraceNumber(absl::string_view key, absl::string_view text, TraceUpdate* update);
// Without effect for a key that has no setting.
void ClearTraceSetting(absl::string_view key, TraceUpdate* update);
// UNIMPLEMENTED: clients cannot change the file.
absl::Status TraceFileIsFixed();

// A setting as clients see it.
struct TraceSettingText {
  std::string key;
  std::vector<std::string> values;
  bool is_list = false;  // an array in JSON, whatever the number of values
};

// "OFF", or the names of the level's bits.
std::vector<std::string> TraceLevelNames(uint32_t level);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_SETTINGS_H_
