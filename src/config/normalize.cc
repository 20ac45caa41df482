// SPDX-License-Identifier: Apache-2.0
#include "config/normalize.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <limits>

namespace nereid {
namespace {

using inference::ModelInstanceGroup;

constexpr uint64_t kDefaultSequenceIdleMicroseconds = 1'000'000;

ModelInstanceGroup::Kind ToProto(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kAuto:
      return ModelInstanceGroup::KIND_AUTO;
    case InstanceKind::kCpu:
      return ModelInstanceGroup::KIND_CPU;
    case InstanceKind::kGpu:
      return ModelInstanceGroup::KIND_GPU;
    case InstanceKind::kModel:
      return ModelInstanceGroup::KIND_MODEL;
  }
  return ModelInstanceGroup::KIND_AUTO;
}

int32_t ToCount(uint64_t count) {
  return static_cast<int32_t>(std::min<uint64_t>(count, std::numeric_limits<int32_t>::max()));
}

// Backends that benefit from a second instance, which prepares a batch while the first computes.
int32_t DefaultCount(const ModelInstanceGroup& group, const std::string& backend) {
  const bool two = group.kind() == ModelInstanceGroup::KIND_CPU &&
                   (backend == "tensorflow" || backend == "onnxruntime");
  return two ? 2 : 1;
}

bool MayUseGpus(const PlacementRules& rules) {
  return !rules.gpus.empty() && !rules.computes_on_cpus;
}

bool IsInUse(const PlacementRules& rules, int64_t gpu) {
  return absl::c_linear_search(rules.gpus, gpu);
}

void AddGpusInUse(const PlacementRules& rules, const std::vector<int64_t>& gpus,
                  ModelInstanceGroup* group) {
  for (const int64_t gpu : gpus) {
    if (IsInUse(rules, gpu)) group->add_gpus(static_cast<int32_t>(gpu));
  }
}

void AddDefaultGroup(const PlacementRules& rules, inference::ModelConfig* config) {
  ModelInstanceGroup* group = config->add_instance_group();
  group->set_name(config->name());
  for (const PreferredGroup& preference : rules.preferred) {
    const bool on_gpus = preference.kind == InstanceKind::kGpu;
    if (on_gpus && !MayUseGpus(rules)) continue;
    group->set_kind(ToProto(preference.kind));
    group->set_count(ToCount(preference.count));
    if (on_gpus) AddGpusInUse(rules, preference.device_ids, group);
    return;
  }
}

// The kind of a group that leaves it to the server.
ModelInstanceGroup::Kind KindOf(const PlacementRules& rules, const ModelInstanceGroup& group) {
  const bool on_gpus = MayUseGpus(rules) &&
                       absl::c_all_of(group.gpus(), [&](int gpu) { return IsInUse(rules, gpu); });
  return on_gpus ? ModelInstanceGroup::KIND_GPU : ModelInstanceGroup::KIND_CPU;
}

// Takes over what the backend prefers for groups of this kind.
void ApplyPreferences(const PlacementRules& rules, ModelInstanceGroup* group) {
  const bool on_gpus = group->kind() == ModelInstanceGroup::KIND_GPU;
  for (const PreferredGroup& preference : rules.preferred) {
    if (ToProto(preference.kind) != group->kind()) continue;
    if (on_gpus && group->gpus().empty() && !preference.device_ids.empty()) {
      AddGpusInUse(rules, preference.device_ids, group);
      if (group->gpus().empty()) continue;
    }
    if (group->count() < 1) group->set_count(ToCount(preference.count));
  }
}

// How the configuration wants a group to be placed.
enum class Wish { kNone, kAuto, kKind };

std::string WhyOnCpu(const PlacementRules& rules, Wish wish, const std::string& backend) {
  if (wish == Wish::kKind) return "its kind is KIND_CPU";
  if (rules.computes_on_cpus) return absl::StrCat("backend '", backend, "' computes on CPUs");
  if (wish == Wish::kNone) return absl::StrCat("backend '", backend, "' prefers that");
  return "it names a GPU that is not in use";
}

std::string PlacementLine(const PlacementRules& rules, Wish wish, const ModelInstanceGroup& group,
                          const inference::ModelConfig& config) {
  const std::string start =
      absl::StrCat("instance group ", group.name(), " of model ", config.name(), " runs ");
  switch (group.kind()) {
    case ModelInstanceGroup::KIND_GPU:
      return absl::StrCat(start, group.gpus_size() == 1 ? "on GPU " : "on each of the GPUs ",
                          absl::StrJoin(group.gpus(), ", "), " with ", group.count(),
                          group.count() == 1 ? " instance" : " instances");
    case ModelInstanceGroup::KIND_MODEL:
      return absl::StrCat(start, "where the model chooses: its kind is KIND_MODEL");
    default:
      return absl::StrCat(start, "on the CPU: ", WhyOnCpu(rules, wish, config.backend()));
  }
}

}  // namespace

void NormalizeConfig(inference::ModelConfig* config) {
  if (!config->has_version_policy()) {
    config->mutable_version_policy()->mutable_latest()->set_num_versions(1);
  }
  const int32_t max_batch_size = config->max_batch_size();
  if (config->has_dynamic_batching()) {
    inference::ModelDynamicBatching* batching = config->mutable_dynamic_batching();
    if (batching->preferred_batch_size().empty() && max_batch_size > 0) {
      batching->add_preferred_batch_size(max_batch_size);
    }
  }
  if (config->has_sequence_batching()) {
    inference::ModelSequenceBatching* batching = config->mutable_sequence_batching();
    if (batching->max_sequence_idle_microseconds() == 0) {
      batching->set_max_sequence_idle_microseconds(kDefaultSequenceIdleMicroseconds);
    }
    if (batching->has_oldest() && batching->oldest().preferred_batch_size().empty() &&
        max_batch_size > 0) {
      batching->mutable_oldest()->add_preferred_batch_size(max_batch_size);
    }
  }
  if (config->platform() != kEnsemblePlatform) {
    // They have no effect here, but clients of Triton find them in every configuration that it
    // shows.
    inference::ModelOptimizationPolicy* optimization = config->mutable_optimization();
    if (!optimization->has_input_pinned_memory()) {
      optimization->mutable_input_pinned_memory()->set_enable(true);
    }
    if (!optimization->has_output_pinned_memory()) {
      optimization->mutable_output_pinned_memory()->set_enable(true);
    }
  }
}

std::vector<std::string> NormalizeInstanceGroups(const PlacementRules& rules,
                                                 inference::ModelConfig* config) {
  std::vector<std::string> lines;
  if (config->platform() == kEnsemblePlatform) return lines;
  const bool is_default = config->instance_group().empty();
  if (is_default) AddDefaultGroup(rules, config);

  for (int i = 0; i < config->instance_group_size(); ++i) {
    ModelInstanceGroup* group = config->mutable_instance_group(i);
    if (group->name().empty()) group->set_name(absl::StrCat(config->name(), "_", i));
    const bool is_open = group->kind() == ModelInstanceGroup::KIND_AUTO;
    if (is_open) group->set_kind(KindOf(rules, *group));
    ApplyPreferences(rules, group);
    if (group->count() < 1) group->set_count(DefaultCount(*group, config->backend()));
    if (group->kind() == ModelInstanceGroup::KIND_GPU && group->gpus().empty()) {
      group->mutable_gpus()->Add(rules.gpus.begin(), rules.gpus.end());
    }
    const Wish wish = is_default ? Wish::kNone : is_open ? Wish::kAuto : Wish::kKind;
    if (!rules.gpus.empty()) lines.push_back(PlacementLine(rules, wish, *group, *config));
  }
  return lines;
}

}  // namespace nereid
