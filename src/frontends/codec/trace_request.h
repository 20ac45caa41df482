// SPDX-License-Identifier: Apache-2.0
// Bodies of requests about trace settings. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_TRACE_REQUEST_H_
#define NEREID_FRONTENDS_CODEC_TRACE_REQUEST_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>
#include <vector>

#include "frontends/codec/parse_cost.h"
#include "frontends/tracing/trace_settings.h"

namespace nereid {

// An object with some of the members trace_level (an array of words), trace_rate, trace_count and
// log_frequency (numbers as strings), each of which may be null: it is cleared. INVALID_ARGUMENT
// for anything else, UNIMPLEMENTED for trace_file.
absl::StatusOr<TraceUpdate> ReadTraceUpdate(absl::string_view body, const ParseBudget& budget);

// An object with a member for each setting.
std::string ToJson(const std::vector<TraceSettingText>& settings);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_TRACE_REQUEST_H_
