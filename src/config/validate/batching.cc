// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

#include "config/validate/checks.h"

namespace nereid {
namespace {

using inference::ModelQueuePolicy;

bool DelaysAfterTimeout(const ModelQueuePolicy& policy) {
  return policy.default_timeout_microseconds() != 0 &&
         policy.timeout_action() == ModelQueuePolicy::DELAY;
}

std::string PriorityPolicyField(uint64_t level) {
  return absl::StrCat("dynamic_batching.priority_queue_policy[", level, "]");
}

// Keys of the map in order, so that texts do not depend on how it is hashed.
std::vector<uint64_t> PolicyLevels(const inference::ModelDynamicBatching& batching) {
  std::vector<uint64_t> levels;
  for (const auto& [level, policy] : batching.priority_queue_policy()) levels.push_back(level);
  std::sort(levels.begin(), levels.end());
  return levels;
}

void CheckPreferredSizes(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const auto& sizes = config.dynamic_batching().preferred_batch_size();
  for (int i = 0; i < sizes.size(); ++i) {
    const std::string field = absl::StrCat("dynamic_batching.preferred_batch_size[", i, "]");
    if (sizes[i] <= 0) {
      diagnostics->Add(
          field,
          absl::StrCat("dynamic batching preferred size must be positive for ", config.name()),
          absl::StrCat("got ", sizes[i]));
    } else if (sizes[i] > config.max_batch_size()) {
      diagnostics->Add(
          field,
          absl::StrCat("dynamic batching preferred size must be <= max batch size for ",
                       config.name()),
          absl::StrCat(sizes[i], " is larger than max_batch_size ", config.max_batch_size()));
    }
  }
}

void CheckPriorities(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const inference::ModelDynamicBatching& batching = config.dynamic_batching();
  const uint64_t levels = batching.priority_levels();
  if (levels == 0) return;
  const std::string range = absl::StrCat("in range [1, ", levels, "] for ", config.name());
  if (const uint64_t level = batching.default_priority_level(); level == 0 || level > levels) {
    diagnostics->Add("dynamic_batching.default_priority_level",
                     absl::StrCat("default priority level must be ", range),
                     absl::StrCat("got ", level));
  }
  for (const uint64_t level : PolicyLevels(batching)) {
    if (level == 0 || level > levels) {
      diagnostics->Add(PriorityPolicyField(level),
                       absl::StrCat("priority queue policy must have priority level ", range),
                       "change the key, or priority_levels");
    }
  }
}

void CheckOrdering(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  const inference::ModelDynamicBatching& batching = config.dynamic_batching();
  if (!batching.preserve_ordering()) return;
  if (batching.priority_levels() > 1) {
    diagnostics->Add("dynamic_batching.priority_levels",
                     absl::StrCat("Only one priority level is allowed when 'preserve_ordering' is "
                                  "true for ",
                                  config.name()),
                     absl::StrCat("got ", batching.priority_levels()));
  }
  const std::string text = absl::StrCat(
      "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for ",
      config.name());
  if (DelaysAfterTimeout(batching.default_queue_policy())) {
    diagnostics->Add("dynamic_batching.default_queue_policy.timeout_action", text, "use REJECT");
  }
  for (const uint64_t level : PolicyLevels(batching)) {
    if (DelaysAfterTimeout(batching.priority_queue_policy().at(level))) {
      diagnostics->Add(absl::StrCat(PriorityPolicyField(level), ".timeout_action"), text,
                       "use REJECT");
    }
  }
}

}  // namespace

void CheckDynamicBatching(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  if (!config.has_dynamic_batching()) return;
  CheckPreferredSizes(config, diagnostics);
  CheckPriorities(config, diagnostics);
  CheckOrdering(config, diagnostics);
}

}  // namespace nereid
