// SPDX-License-Identifier: Apache-2.0
#include <absl/algorithm/container.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include "config/normalize.h"
#include "config/validate/checks.h"

namespace nereid {
namespace {

using inference::ModelInstanceGroup;

// A guard against typing errors: each instance is a thread and a copy of the model.
constexpr int64_t kMaxInstances = 4096;

void CheckDevices(const ModelInstanceGroup& group, const std::string& field,
                  const std::string& prefix, Diagnostics* diagnostics) {
  if (group.kind() == ModelInstanceGroup::KIND_GPU) {
    diagnostics->Add(absl::StrCat(field, ".kind"),
                     absl::StrCat(prefix, " has kind KIND_GPU but server does not support GPUs"),
                     "use KIND_CPU");
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

void CheckInstanceGroups(const inference::ModelConfig& config, Diagnostics* diagnostics) {
  if (config.platform() == kEnsemblePlatform) return;
  int64_t instances = 0;
  for (int i = 0; i < config.instance_group_size(); ++i) {
    const ModelInstanceGroup& group = config.instance_group(i);
    const std::string field = absl::StrCat("instance_group[", i, "]");
    CheckDevices(group, field,
                 absl::StrCat("instance group ", group.name(), " of model ", config.name()),
                 diagnostics);
    CheckProfiles(group, field, config, diagnostics);
    instances += group.count();
  }
  if (instances > kMaxInstances) {
    diagnostics->Add("instance_group", absl::StrCat("too many instances for ", config.name()),
                     absl::StrCat(instances, " in all; a model may have ", kMaxInstances));
  }
}

}  // namespace nereid
