// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/status_macros.h"
#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

using ValueCheck = absl::Status (*)(absl::string_view value);

absl::Status CheckBool(absl::string_view value) {
  bool ignored;
  return ParseBool(value, &ignored);
}

absl::Status CheckInteger(absl::string_view value) {
  int64_t ignored;
  return ParseInteger(value, -kMaxInt, kMaxInt, &ignored);
}

absl::Status CheckBytes(absl::string_view value) {
  int64_t ignored;
  return ParseInteger(value, 0, kMaxInt64, &ignored);
}

absl::Status CheckNumber(absl::string_view value) {
  double ignored;
  return ParseNumber(value, &ignored);
}

absl::Status CheckFraction(absl::string_view value) {
  double fraction;
  RETURN_IF_ERROR(ParseNumber(value, &fraction));
  if (fraction >= 0 && fraction <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("expects limit fraction to be in range [0.0, 1.0], got ", value));
}

// <gpu>:<value>
template <ValueCheck check>
absl::Status CheckOfGpu(absl::string_view value) {
  const size_t colon = value.find(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cannot parse pair option due to incorrect number of inputs.--<pair option> "
                     "argument requires format <first>:<second>. Found: ",
                     value));
  }
  int64_t gpu;
  RETURN_IF_ERROR(ParseInteger(value.substr(0, colon), 0, kMaxInt, &gpu));
  return check(value.substr(colon + 1));
}

struct DeviceOption {
  const char* name;
  const char* argument;
  ValueCheck check;
  const char* help;
};

constexpr DeviceOption kOptions[] = {
    {"allow-gpu-metrics", "<boolean>", &CheckBool, "GPU metrics."},
    {"enable-peer-access", "<boolean>", &CheckBool, "Access between GPUs."},
    {"pinned-memory-pool-byte-size", "<integer>", &CheckBytes, "Size of the pinned memory pool."},
    {"cuda-memory-pool-byte-size", "<gpu>:<bytes>", &CheckOfGpu<CheckBytes>,
     "Size of a GPU's memory pool."},
    {"cuda-virtual-address-size", "<gpu>:<bytes>", &CheckOfGpu<CheckBytes>,
     "Address space for growable state."},
    {"min-supported-compute-capability", "<float>", &CheckNumber, "Oldest GPU generation to use."},
    {"model-load-gpu-limit", "<gpu>:<fraction>", &CheckOfGpu<CheckFraction>,
     "GPU memory limit for loading."},
    {"buffer-manager-thread-count", "<integer>", &CheckInteger,
     "Threads that help to copy tensors to and from GPUs."},
};

}  // namespace

// Accepted, so that existing command lines work; one warning names those that were used.
FlagGroup DeviceFlags(Settings* s) {
  FlagGroup group{"Without effect (this build has no GPU support)", {}};
  for (const DeviceOption& option : kOptions) {
    group.flags.push_back({option.name, option.argument, "", option.help,
                           [named = &s->without_effect, &option](absl::string_view value) {
                             RETURN_IF_ERROR(option.check(value));
                             std::string name = absl::StrCat("--", option.name);
                             if (std::find(named->begin(), named->end(), name) == named->end()) {
                               named->push_back(std::move(name));
                             }
                             return absl::OkStatus();
                           }});
  }
  return group;
}

}  // namespace nereid
