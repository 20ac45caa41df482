#include "config/compile.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include "config/json.h"

namespace nereid {
namespace {

using inference::ModelInstanceGroup;

Shape ToShape(const google::protobuf::RepeatedField<int64_t>& dims) {
  return Shape(dims.begin(), dims.end());
}

// Values of inference::DataType are those of DataType.
DataType ToDataType(inference::DataType type) { return static_cast<DataType>(type); }

InputSpec ToSpec(const inference::ModelInput& input) {
  InputSpec spec;
  spec.name = input.name();
  spec.data_type = ToDataType(input.data_type());
  spec.dims = ToShape(input.dims());
  if (input.has_reshape()) spec.reshape = ToShape(input.reshape().shape());
  spec.optional = input.optional();
  spec.is_shape_tensor = input.is_shape_tensor();
  spec.allow_ragged = input.allow_ragged_batch();
  spec.byte_size = TensorByteSize(spec.data_type, spec.dims);
  return spec;
}

OutputSpec ToSpec(const inference::ModelOutput& output) {
  OutputSpec spec;
  spec.name = output.name();
  spec.data_type = ToDataType(output.data_type());
  spec.dims = ToShape(output.dims());
  if (output.has_reshape()) spec.reshape = ToShape(output.reshape().shape());
  spec.label_filename = output.label_filename();
  return spec;
}

Duration ToDuration(uint64_t microseconds) {
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max() / 1000;
  return std::chrono::microseconds(std::min(microseconds, kLongest));
}

QueuePolicy ToPolicy(const inference::ModelQueuePolicy& policy) {
  QueuePolicy result;
  if (policy.timeout_action() == inference::ModelQueuePolicy::DELAY) {
    result.timeout_action = QueuePolicy::TimeoutAction::kDelay;
  }
  result.default_timeout = ToDuration(policy.default_timeout_microseconds());
  result.allow_timeout_override = policy.allow_timeout_override();
  result.max_queue_size = policy.max_queue_size();
  return result;
}

BatchingOptions ToOptions(const inference::ModelConfig& config) {
  BatchingOptions options;
  options.enabled = config.has_dynamic_batching();
  if (!options.enabled) return options;
  const auto& sizes = config.dynamic_batching().preferred_batch_size();
  options.preferred_batch_sizes.assign(sizes.begin(), sizes.end());
  absl::c_sort(options.preferred_batch_sizes);
  options.preferred_batch_sizes.erase(
      std::unique(options.preferred_batch_sizes.begin(), options.preferred_batch_sizes.end()),
      options.preferred_batch_sizes.end());
  const inference::ModelDynamicBatching& batching = config.dynamic_batching();
  options.max_queue_delay = ToDuration(batching.max_queue_delay_microseconds());
  options.preserve_ordering = batching.preserve_ordering();
  options.priority_levels = batching.priority_levels();
  options.default_priority_level = batching.default_priority_level();
  options.default_queue_policy = ToPolicy(batching.default_queue_policy());
  // Without levels all requests are at level 0, which has the default policy.
  if (batching.priority_levels() > 0) {
    for (const auto& [level, policy] : batching.priority_queue_policy()) {
      options.priority_queue_policy[level] = ToPolicy(policy);
    }
  }
  return options;
}

std::vector<InstanceSpec> ToInstances(const inference::ModelConfig& config) {
  std::vector<InstanceSpec> instances;
  for (const ModelInstanceGroup& group : config.instance_group()) {
    const bool is_model = group.kind() == ModelInstanceGroup::KIND_MODEL;
    for (int32_t i = 0; i < group.count(); ++i) {
      InstanceSpec instance;
      instance.name = absl::StrCat(group.name(), "_", i);
      instance.kind = is_model ? InstanceKind::kModel : InstanceKind::kCpu;
      instance.host_policy_name = !group.host_policy().empty() ? group.host_policy()
                                  : is_model                   ? "model"
                                                               : "cpu";
      instance.passive = group.passive();
      for (const auto& resource : group.rate_limiter().resources()) {
        instance.resources.push_back({resource.name(), resource.global(), resource.count()});
      }
      instance.rate_priority = std::max(1u, group.rate_limiter().priority());
      instances.push_back(std::move(instance));
    }
  }
  return instances;
}

WarmupInput ToWarmupInput(const std::string& name, const inference::ModelWarmup::Input& input) {
  using Input = inference::ModelWarmup::Input;
  WarmupInput spec;
  spec.name = name;
  spec.data_type = ToDataType(input.data_type());
  spec.dims = ToShape(input.dims());
  switch (input.input_data_type_case()) {
    case Input::kZeroData:
      spec.data = WarmupData::kZero;
      break;
    case Input::kRandomData:
      spec.data = WarmupData::kRandom;
      break;
    case Input::kInputDataFile:
      spec.data = WarmupData::kFile;
      spec.file = input.input_data_file();
      break;
    case Input::INPUT_DATA_TYPE_NOT_SET:
      break;
  }
  return spec;
}

std::vector<WarmupSpec> ToWarmup(const inference::ModelConfig& config) {
  std::vector<WarmupSpec> samples;
  for (const inference::ModelWarmup& warmup : config.model_warmup()) {
    WarmupSpec& sample = samples.emplace_back();
    sample.name = warmup.name();
    sample.batch_size = warmup.batch_size();
    sample.count = std::max(1u, warmup.count());
    for (const auto& [name, input] : warmup.inputs()) {
      sample.inputs.push_back(ToWarmupInput(name, input));
    }
    absl::c_sort(sample.inputs,
                 [](const WarmupInput& a, const WarmupInput& b) { return a.name < b.name; });
  }
  return samples;
}

}  // namespace

CompiledModel CompileModel(const inference::ModelConfig& config, int64_t version) {
  CompiledModel model;
  model.name = config.name();
  model.version = version;
  model.platform = config.platform();
  model.backend = config.backend();
  model.default_model_filename = config.default_model_filename();
  model.max_batch_size = config.max_batch_size();
  model.decoupled = config.model_transaction_policy().decoupled();
  model.response_cache = config.response_cache().enable();
  for (const inference::ModelInput& input : config.input()) {
    const InputSpec& spec = model.inputs.emplace_back(ToSpec(input));
    if (!spec.optional) ++model.required_input_count;
    model.has_optional_inputs |= spec.optional;
    model.needs_shape_equality |=
        !spec.allow_ragged && absl::c_linear_search(spec.dims, kVariableDim);
  }
  for (const inference::ModelOutput& output : config.output()) {
    model.outputs.push_back(ToSpec(output));
  }
  model.batching = ToOptions(config);
  model.instances = ToInstances(config);
  model.warmup = ToWarmup(config);
  for (const auto& [key, parameter] : config.parameters()) {
    model.parameters[key] = parameter.string_value();
  }
  model.json = ModelConfigToJson(config);
  return model;
}

}  // namespace nereid
