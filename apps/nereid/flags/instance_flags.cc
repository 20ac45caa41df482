// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "base/status_macros.h"
#include "execution/host_policy.h"
#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

// <name>:<count>[:<device>]
absl::Status AddRateLimit(absl::string_view value, RateLimiterResources* resources) {
  const std::vector<absl::string_view> parts = absl::StrSplit(value, ':');
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--rate-limit-resource option format is "
                     "'<resource_name>:<count>:<device>' or '<resource_name>:<count>'. Got ",
                     value));
  }
  int64_t count = 0;
  int64_t device = -1;  // every device
  absl::Status status = ParseInteger(parts[1], 0, kMaxInt, &count);
  if (status.ok() && parts.size() == 3) status = ParseInteger(parts[2], 0, kMaxInt, &device);
  if (status.ok()) {
    AddRateLimiterResource(resources, std::string(parts[0]), static_cast<int>(device),
                           static_cast<uint64_t>(count));
  }
  return status;
}

// <policy>,<setting>=<value>
absl::Status AddHostPolicy(absl::string_view value, ServerOptions* options) {
  const size_t comma = value.find(',');
  const size_t equals = value.find('=');
  if (comma == absl::string_view::npos || equals == absl::string_view::npos || comma == 0 ||
      equals <= comma + 1 || equals + 1 == value.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--host-policy option format is '<policy name>,<setting>=<value>'. Got ", value, "\n"));
  }
  const std::string setting(value.substr(comma + 1, equals - comma - 1));
  RETURN_IF_ERROR(HostPolicy::CheckSetting(setting));
  options->host_policies[std::string(value.substr(0, comma))][setting] =
      std::string(value.substr(equals + 1));
  return absl::OkStatus();
}

}  // namespace

FlagGroup InstanceFlags(Settings* s) {
  ServerOptions* const o = &s->server;
  return {
      "Model instances",
      {ChoiceFlag("rate-limit", &o->rate_limit, {{"execution_count", true}, {"off", false}},
                  LetterCase::kDoesNotMatter,
                  "execution_count: an instance executes only while it holds the resources that "
                  "its rate_limiter names. off: those are not looked at."),
       Repeated(
           {"rate-limit-resource", "<name>:<count>[:<device>]", "the most that an instance needs",
            "How much there is of a resource on a device, or on every device. May be given several "
            "times; of two counts for the same the smaller one holds.",
            [o](absl::string_view value) {
              return AddRateLimit(value, &o->rate_limiter_resources);
            }}),
       Repeated(
           {"host-policy", "<policy>,<setting>=<value>", "",
            "Where instances run that use this policy: cpu-cores (0-4 or 1,3) for their threads, "
            "numa-node (a number) for their memory. An instance group's host_policy names it; "
            "otherwise it is cpu for KIND_CPU and model for KIND_MODEL. May be given several "
            "times.",
            [o](absl::string_view value) { return AddHostPolicy(value, o); }})}};
}

}  // namespace nereid
