// SPDX-License-Identifier: Apache-2.0
#include "config/normalize.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

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

void AddDefaultGroup(absl::Span<const PreferredGroup> preferred, inference::ModelConfig* config) {
  ModelInstanceGroup* group = config->add_instance_group();
  group->set_name(config->name());
  for (const PreferredGroup& preference : preferred) {
    if (preference.kind == InstanceKind::kGpu) continue;
    group->set_kind(ToProto(preference.kind));
    group->set_count(ToCount(preference.count));
    return;
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
    inference::ModelOptimizationPolicy* optimization = config->mutable_optimization();
    if (!optimization->has_input_pinned_memory()) {
      optimization->mutable_input_pinned_memory()->set_enable(true);
    }
    if (!optimization->has_output_pinned_memory()) {
      optimization->mutable_output_pinned_memory()->set_enable(true);
    }
  }
}

void NormalizeInstanceGroups(absl::Span<const PreferredGroup> preferred,
                             inference::ModelConfig* config) {
  if (config->platform() == kEnsemblePlatform) return;
  if (config->instance_group().empty()) AddDefaultGroup(preferred, config);

  for (int i = 0; i < config->instance_group_size(); ++i) {
    ModelInstanceGroup* group = config->mutable_instance_group(i);
    if (group->name().empty()) group->set_name(absl::StrCat(config->name(), "_", i));
    if (group->kind() == ModelInstanceGroup::KIND_AUTO) {
      group->set_kind(ModelInstanceGroup::KIND_CPU);
    }
    const auto preference = absl::c_find_if(
        preferred, [&](const PreferredGroup& p) { return ToProto(p.kind) == group->kind(); });
    if (group->count() < 1 && preference != preferred.end()) {
      group->set_count(ToCount(preference->count));
    }
    if (group->count() < 1) group->set_count(DefaultCount(*group, config->backend()));
  }
}

}  // namespace nereid
