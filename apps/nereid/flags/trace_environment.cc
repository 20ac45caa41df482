// SPDX-License-Identifier: Apache-2.0
#include "flags/trace_environment.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <string>
#include <utility>
#include <vector>

#include "options/flag_values.h"

namespace nereid {
namespace {

std::string Value(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? "" : value;
}

// `text` with each %XX replaced by its byte.
std::string Decoded(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() &&
                         absl::ascii_isxdigit(text[i + 1]) && absl::ascii_isxdigit(text[i + 2]);
    decoded += escaped ? absl::HexStringToBytes(text.substr(i + 1, 2)) : std::string(1, text[i]);
    if (escaped) i += 2;
  }
  return decoded;
}

// "a=b,c=d"; what has no '=' is left out.
std::vector<std::pair<std::string, std::string>> Pairs(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const absl::string_view entry : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const size_t equals = entry.find('=');
    if (equals == absl::string_view::npos) continue;
    pairs.emplace_back(absl::StripAsciiWhitespace(entry.substr(0, equals)),
                       Decoded(absl::StripAsciiWhitespace(entry.substr(equals + 1))));
  }
  return pairs;
}

absl::Status ReadNumber(const Environment& environment, const char* name, int64_t low,
                        uint32_t* target) {
  const std::string text = Value(environment, name);
  if (text.empty()) return absl::OkStatus();
  int64_t number = 0;
  const absl::Status parsed = ParseInteger(text, low, kMaxInt, &number);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Bad option: \"", name, "\".\n", parsed.message()));
  }
  *target = static_cast<uint32_t>(number);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadTraceEnvironment(const Environment& environment, OtlpOptions* options) {
  const std::string of_all = Value(environment, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (!of_all.empty()) {
    options->url = absl::StrCat(of_all, of_all.back() == '/' ? "" : "/", "v1/traces");
  }
  // That of traces is a complete URL.
  const std::string of_traces = Value(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (!of_traces.empty()) options->url = of_traces;
  std::string headers = Value(environment, "OTEL_EXPORTER_OTLP_TRACES_HEADERS");
  if (headers.empty()) headers = Value(environment, "OTEL_EXPORTER_OTLP_HEADERS");
  for (const auto& [name, value] : Pairs(headers)) {
    options->headers.push_back(absl::StrCat(name, ": ", value));
  }
  for (auto& [name, value] : Pairs(Value(environment, "OTEL_RESOURCE_ATTRIBUTES"))) {
    options->resource[name] = std::move(value);
  }
  const std::string service = Value(environment, "OTEL_SERVICE_NAME");
  if (!service.empty()) options->resource["service.name"] = service;
  absl::Status status;
  status.Update(ReadNumber(environment, "OTEL_BSP_MAX_QUEUE_SIZE", 1, &options->max_queue_size));
  status.Update(ReadNumber(environment, "OTEL_BSP_SCHEDULE_DELAY", 0, &options->schedule_delay_ms));
  status.Update(ReadNumber(environment, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1,
                           &options->max_export_batch_size));
  return status;
}

}  // namespace nereid
