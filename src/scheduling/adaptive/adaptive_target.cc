#include "scheduling/adaptive/adaptive_target.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>

#include "config/server_parameters.h"

namespace nereid {
namespace {

constexpr int64_t kMostMicros = 3'600'000'000;  // an hour

bool IsWholeNumber(absl::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

absl::StatusOr<Duration> AdaptiveTarget(const CompiledModel& model, const BatchingRivals& rivals) {
  const auto found = model.parameters.find(kTargetP99Parameter);
  if (found == model.parameters.end()) return Duration(0);
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter '", kTargetP99Parameter, "' of model '", model.name, "' ", why));
  };
  int64_t micros = 0;
  if (!IsWholeNumber(found->second) || !absl::SimpleAtoi(found->second, &micros) || micros < 1 ||
      micros > kMostMicros) {
    return refuse(absl::StrCat("is '", found->second,
                               "'; it must be a whole number of microseconds from 1 to ",
                               kMostMicros));
  }
  if (!model.batching.enabled || model.max_batch_size < 2) {
    return refuse("needs dynamic_batching and a max_batch_size of 2 or more");
  }
  // Without preferred sizes in the configuration, the list has only the largest batch size.
  const auto& sizes = model.batching.preferred_batch_sizes;
  const bool prefers = std::any_of(sizes.begin(), sizes.end(),
                                   [&](int32_t size) { return size != model.max_batch_size; });
  if (prefers || model.batching.max_queue_delay > Duration(0)) {
    return refuse(
        "cannot be combined with preferred_batch_size or max_queue_delay_microseconds, which it "
        "chooses");
  }
  if (rivals.custom_strategy) return refuse("cannot be combined with a custom batching strategy");
  if (rivals.rate_limited) return refuse("cannot be combined with the rate limiter (--rate-limit)");
  return std::chrono::microseconds(micros);
}

}  // namespace nereid
