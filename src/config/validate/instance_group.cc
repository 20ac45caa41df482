// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "config/normalize.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using inference::ModelInstanceGroup;

// A guard against typing errors: each instance is a thread and a copy of the model.
constexpr int64_t kMaxInstances = 4096;

void CheckGpus(const ModelInstanceGroup& group, const std::string& backend,
               const PlacementRules& rules, const std::string& field, const std::string& prefix,
               Diagnostics* diagnostics) {
  if (rules.gpus.empty() || rules.computes_on_cpus) {
    const std::string why = rules.gpus.empty()
                                ? std::string("no GPUs are available")
                                : absl::StrCat("backend '", backend, "' computes on CPUs");
    diagnostics->Add(absl::StrCat(field, ".kind"),
                     absl::StrCat(prefix, " has kind KIND_GPU but ", why), "use KIND_CPU");
    return;
  }
  const auto other = absl::c_find_if(
      group.gpus(), [&](int gpu) { return !absl::c_linear_search(rules.gpus, gpu); });
  if (other == group.gpus().end()) return;
  diagnostics->Add(
      absl::StrCat(field, ".gpus"),
      absl::StrFormat("%s specifies invalid or unsupported gpu id %d. GPUs with at least the "
                      "minimum required CUDA compute compatibility of %f are: %s",
                      prefix, *other, rules.min_compute_capability,
                      absl::StrJoin(rules.gpus, ", ")),
      "name some of these, or none to use them all");
}

void CheckDevices(const ModelInstanceGroup& group, const std::string& backend,
                  const PlacementRules& rules, const std::string& field, const std::string& prefix,
                  Diagnostics* diagnostics) {
  if (group.kind() == ModelInstanceGroup::KIND_GPU) {
    CheckGpus(group, backend, rules, field, prefix, diagnostics);
  } else if (!ModelInstanceGroup::Kind_IsValid(group.kind())) {
    diagnostics->Add(absl::StrCat(field, ".kind"),
                     absl::StrCat(prefix, " has unexpected kind ", static_cast<int>(group.kind())),
                     "use KIND_CPU");
  } else if (!group.gpus().empty()) {
    diagnostics->Add(absl::StrCat(field, ".gpus"),
                     absl::StrCat(prefix, " has kind ", ModelInstanceGroup::Kind_Name(group.kind()),
                                  " but specifies one or more GPUs"),
                     "remove it");
  }
}

void CheckProfiles(const ModelInstanceGroup& group, const std::string& field,
                   const inference::ModelConfig& config, Diagnostics* diagnostics) {
  if (group.profile().empty()) return;
  const std::string prefix = absl::StrCat("instance group ", group.name(), " of model ",
                                          config.name(), " and platform ", config.platform());
  if (config.platform() != "tensorrt_plan") {
    diagnostics->Add(absl::StrCat(field, ".profile"),
                     absl::StrCat(prefix,
                                  "specifies profile field which is only supported for "
                                  "TensorRT models"),
                     "remove it");
    return;
  }
  for (const std::string& profile : group.profile()) {
    if (!profile.empty() && absl::c_all_of(profile, absl::ascii_isdigit)) continue;
    diagnostics->Add(absl::StrCat(field, ".profile"),
                     absl::StrCat(prefix, " specifies invalid profile ", profile,
                                  ". The field should contain the string representation of a "
                                  "non-negative integer."),
                     "for instance \"0\"");
  }
}

}  // namespace

void CheckInstanceGroups(const inference::ModelConfig& config, const PlacementRules& rules,
                         Diagnostics* diagnostics) {
  if (config.platform() == kEnsemblePlatform) return;
  int64_t instances = 0;
  for (int i = 0; i < config.instance_group_size(); ++i) {
    const ModelInstanceGroup& group = config.instance_group(i);
    const std::string field = absl::StrCat("instance_group[", i, "]");
    CheckDevices(group, config.backend(), rules, field,
                 absl::StrCat("instance group ", group.name(), " of model ", config.name()),
                 diagnostics);
    CheckProfiles(group, field, config, diagnostics);
    instances += int64_t{group.count()} * std::max(1, group.gpus_size());
  }
  if (instances > kMaxInstances) {
    diagnostics->Add("instance_group", absl::StrCat("too many instances for ", config.name()),
                     absl::StrCat(instances, " in all; a model may have ", kMaxInstances));
  }
}

}  // namespace nereid
