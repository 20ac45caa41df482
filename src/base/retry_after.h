// SPDX-License-Identifier: Apache-2.0
// An error may say in how many seconds it is worth trying again, which HTTP tells as Retry-After,
// and for which model it is worth waiting, because it is being loaded. Stateless.
#ifndef NEREID_BASE_RETRY_AFTER_H_
#define NEREID_BASE_RETRY_AFTER_H_

#include <absl/status/status.h>
#include <absl/strings/cord.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace nereid {

inline constexpr char kRetryAfterPayload[] = "nereid.retry_after_secs";
inline constexpr char kAwaitedModelPayload[] = "nereid.awaited_model";

// REQUIRES: `error` is no success.
inline absl::Status WithRetryAfter(absl::Status error, uint32_t seconds) {
  error.SetPayload(kRetryAfterPayload, absl::Cord(absl::StrCat(seconds)));
  return error;
}

inline std::optional<uint32_t> RetryAfterOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kRetryAfterPayload);
  uint32_t seconds = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &seconds)) {
    return std::nullopt;
  }
  return seconds;
}

// REQUIRES: `error` is no success.
inline absl::Status WithAwaitedModel(absl::Status error, absl::string_view model) {
  error.SetPayload(kAwaitedModelPayload, absl::Cord(model));
  return error;
}

inline std::optional<std::string> AwaitedModelOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kAwaitedModelPayload);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace nereid

#endif  // NEREID_BASE_RETRY_AFTER_H_
