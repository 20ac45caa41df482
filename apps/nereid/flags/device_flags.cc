// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "device/device_options.h"
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

// <gpu>:<value>
template <typename Value>
absl::Status ParseOfGpu(absl::string_view value,
                        absl::Status (*parse)(absl::string_view text, Value* out),
                        std::map<int, Value>* values) {
  const size_t colon = value.find(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cannot parse pair option due to incorrect number of inputs.--<pair option> "
                     "argument requires format <first>:<second>. Found: ",
                     value));
  }
  int64_t gpu;
  Value parsed;
  RETURN_IF_ERROR(ParseInteger(value.substr(0, colon), 0, kMaxInt, &gpu));
  RETURN_IF_ERROR(parse(value.substr(colon + 1), &parsed));
  (*values)[static_cast<int>(gpu)] = parsed;
  return absl::OkStatus();
}

absl::Status ParseBytes(absl::string_view text, uint64_t* bytes) {
  int64_t number;
  RETURN_IF_ERROR(ParseInteger(text, 0, kMaxInt64, &number));
  *bytes = static_cast<uint64_t>(number);
  return absl::OkStatus();
}

absl::Status ParseFraction(absl::string_view text, double* fraction) {
  RETURN_IF_ERROR(ParseNumber(text, fraction));
  if (*fraction >= 0 && *fraction <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("expects limit fraction to be in range [0.0, 1.0], got ", text));
}

struct OptionWithoutEffect {
  const char* name;
  const char* argument;
  ValueCheck check;
  const char* help;
};

constexpr OptionWithoutEffect kWithoutEffect[] = {
    {"enable-peer-access", "<boolean>", &CheckBool, "Access between GPUs."},
    {"buffer-manager-thread-count", "<integer>", &CheckInteger,
     "Threads that help to copy tensors to and from GPUs."},
};

// An option that has no effect where no GPU is used: the log then names it.
Flag NeedsGpu(DeviceOptions* devices, Flag flag) {
  flag.set = [devices, name = absl::StrCat("--", flag.name),
              set = std::move(flag.set)](absl::string_view value) {
    RETURN_IF_ERROR(set(value));
    devices->given.insert(name);
    return absl::OkStatus();
  };
  return flag;
}

}  // namespace

FlagGroup DeviceFlags(Settings* s) {
  DeviceOptions* const devices = &s->server.devices;
  Flag capability = {"min-supported-compute-capability", "<float>",
                     absl::StrFormat("%.1f", DeviceOptions::kMinComputeCapability),
                     "GPUs of an older generation are not used.",
                     [devices](absl::string_view value) {
                       double parsed;
                       RETURN_IF_ERROR(ParseNumber(value, &parsed));
                       devices->min_compute_capability = parsed;
                       return absl::OkStatus();
                     }};
  Flag pinned = WithDefaultText(
      absl::StrCat(DeviceOptions::kPinnedPoolBytes),
      IntegerFlag("pinned-memory-pool-byte-size", &devices->pinned_pool_bytes, {0, kMaxInt64},
                  "Memory of the host from which GPUs copy without a detour, taken when a backend "
                  "first asks for some. 0: none."));
  Flag pool = {"cuda-memory-pool-byte-size", "<gpu>:<bytes>",
               absl::StrCat(DeviceOptions::kGpuPoolBytes),
               "Memory of a GPU for backends, taken when one first asks for some. 0: none. May be "
               "given several times.",
               [devices](absl::string_view value) {
                 return ParseOfGpu(value, &ParseBytes, &devices->gpu_pool_bytes);
               }};
  Flag addresses = {"cuda-virtual-address-size", "<gpu>:<bytes>",
                    absl::StrCat(DeviceOptions::kAddressBytes),
                    "How far each state with use_growable_memory can grow on a GPU. May be given "
                    "several times.",
                    [devices](absl::string_view value) {
                      return ParseOfGpu(value, &ParseBytes, &devices->address_bytes);
                    }};
  Flag limit = {
      "model-load-gpu-limit", "<gpu>:<fraction>", "",
      "No instance is made on a GPU while more than this share of its memory, from 0.0 to "
      "1.0, is in use. May be given several times.",
      [devices](absl::string_view value) {
        return ParseOfGpu(value, &ParseFraction, &devices->load_limits);
      }};
  return {"GPUs",
          {std::move(capability), NeedsGpu(devices, std::move(pinned)),
           Repeated(NeedsGpu(devices, std::move(pool))),
           Repeated(NeedsGpu(devices, std::move(addresses))),
           Repeated(NeedsGpu(devices, std::move(limit))),
           BooleanFlag("allow-gpu-metrics", &s->server.gpu_metrics, "Measure the GPUs.")}};
}

// Accepted, so that existing command lines work; one warning names those that were used.
FlagGroup FlagsWithoutEffect(Settings* s) {
  FlagGroup group{"Without effect (about copies to and from GPUs that this server does not make)",
                  {}};
  for (const OptionWithoutEffect& option : kWithoutEffect) {
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
