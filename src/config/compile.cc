// SPDX-License-Identifier: Apache-2.0
#include "config/compile.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include "config/json.h"
#include "config/states.h"

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

// Options common to dynamic batching and the oldest strategy of sequences.
template <typename Batching>
BatchingOptions ToCommonOptions(const Batching& batching) {
  BatchingOptions options;
  options.enabled = true;
  const auto& sizes = batching.preferred_batch_size();
  options.preferred_batch_sizes.assign(sizes.begin(), sizes.end());
  absl::c_sort(options.preferred_batch_sizes);
  options.preferred_batch_sizes.erase(
      std::unique(options.preferred_batch_sizes.begin(), options.preferred_batch_sizes.end()),
      options.preferred_batch_sizes.end());
  options.max_queue_delay = ToDuration(batching.max_queue_delay_microseconds());
  options.preserve_ordering = batching.preserve_ordering();
  return options;
}

BatchingOptions ToOptions(const inference::ModelConfig& config) {
  if (config.sequence_batching().has_oldest()) {
    return ToCommonOptions(config.sequence_batching().oldest());
  }
  if (!config.has_dynamic_batching()) return {};
  const inference::ModelDynamicBatching& batching = config.dynamic_batching();
  BatchingOptions options = ToCommonOptions(batching);
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

using SequenceBatching = inference::ModelSequenceBatching;

// The element's bytes for the values `values` = [ false, true ].
template <typename Element, typename Values>
void SetElements(DataType type, const Values& values, SequenceControl* control) {
  const auto bytes_of = [](Element value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  control->data_type = type;
  control->false_value = bytes_of(static_cast<Element>(values.Get(0)));
  control->true_value = bytes_of(static_cast<Element>(values.Get(1)));
}

SequenceControl ToControl(const std::string& input, const SequenceBatching::Control& control) {
  SequenceControl result;
  result.input = input;
  switch (control.kind()) {
    case SequenceBatching::Control::CONTROL_SEQUENCE_START:
      result.kind = SequenceControl::Kind::kStart;
      break;
    case SequenceBatching::Control::CONTROL_SEQUENCE_READY:
      result.kind = SequenceControl::Kind::kReady;
      break;
    case SequenceBatching::Control::CONTROL_SEQUENCE_END:
      result.kind = SequenceControl::Kind::kEnd;
      break;
    default:
      result.kind = SequenceControl::Kind::kCorrelationId;
      result.data_type = ToDataType(control.data_type());
      return result;
  }
  if (control.int32_false_true_size() == 2) {
    SetElements<int32_t>(DataType::kInt32, control.int32_false_true(), &result);
  } else if (control.fp32_false_true_size() == 2) {
    SetElements<float>(DataType::kFp32, control.fp32_false_true(), &result);
  } else if (control.bool_false_true_size() == 2) {
    SetElements<uint8_t>(DataType::kBool, control.bool_false_true(), &result);
  }
  return result;
}

SequenceOptions ToSequence(const inference::ModelConfig& config) {
  SequenceOptions options;
  options.enabled = config.has_sequence_batching();
  if (!options.enabled) return options;
  const SequenceBatching& batching = config.sequence_batching();
  options.oldest = batching.has_oldest();
  options.iterative = batching.iterative_sequence();
  options.slots = static_cast<uint32_t>(std::max(1, config.max_batch_size()));
  if (options.oldest && batching.oldest().max_candidate_sequences() > 0) {
    options.slots = static_cast<uint32_t>(batching.oldest().max_candidate_sequences());
  }
  options.max_idle = ToDuration(batching.max_sequence_idle_microseconds());
  options.max_queue_delay = ToDuration(batching.direct().max_queue_delay_microseconds());
  options.minimum_slot_utilization = batching.direct().minimum_slot_utilization();
  for (const SequenceBatching::ControlInput& input : batching.control_input()) {
    for (const SequenceBatching::Control& control : input.control()) {
      options.controls.push_back(ToControl(input.name(), control));
    }
  }
  return options;
}

InstanceSpec ToInstance(const ModelInstanceGroup& group, InstanceKind kind, int gpu, int index) {
  InstanceSpec instance;
  instance.name = absl::StrCat(group.name(), "_", index);
  instance.kind = kind;
  instance.device_id = gpu;
  if (!group.host_policy().empty()) {
    instance.host_policy_name = group.host_policy();
  } else if (kind == InstanceKind::kGpu) {
    instance.host_policy_name = absl::StrCat("gpu_", gpu);
  } else {
    instance.host_policy_name = kind == InstanceKind::kModel ? "model" : "cpu";
  }
  instance.passive = group.passive();
  for (const auto& resource : group.rate_limiter().resources()) {
    instance.resources.push_back({resource.name(), resource.global(), resource.count()});
  }
  instance.rate_priority = std::max(1u, group.rate_limiter().priority());
  return instance;
}

// As many as the group's count on each of its GPUs, all with the same names.
std::vector<InstanceSpec> ToInstances(const inference::ModelConfig& config) {
  std::vector<InstanceSpec> instances;
  for (const ModelInstanceGroup& group : config.instance_group()) {
    for (int32_t i = 0; i < group.count(); ++i) {
      if (group.kind() == ModelInstanceGroup::KIND_GPU) {
        for (const int gpu : group.gpus()) {
          instances.push_back(ToInstance(group, InstanceKind::kGpu, gpu, i));
        }
      } else {
        const bool is_model = group.kind() == ModelInstanceGroup::KIND_MODEL;
        instances.push_back(
            ToInstance(group, is_model ? InstanceKind::kModel : InstanceKind::kCpu, 0, i));
      }
    }
  }
  return instances;
}

// Protobuf maps have no order: the result is ordered by name.
std::vector<TensorMapping> ToMappings(const google::protobuf::Map<std::string, std::string>& map) {
  std::vector<TensorMapping> mappings;
  for (const auto& [name, tensor] : map) mappings.push_back({name, tensor});
  absl::c_sort(mappings,
               [](const TensorMapping& a, const TensorMapping& b) { return a.name < b.name; });
  return mappings;
}

EnsembleSpec ToEnsemble(const inference::ModelEnsembling& ensembling) {
  EnsembleSpec spec;
  spec.max_inflight_requests = ensembling.max_inflight_requests();
  for (const inference::ModelEnsembling::Step& step : ensembling.step()) {
    EnsembleStep& compiled = spec.steps.emplace_back();
    compiled.model_name = step.model_name();
    compiled.model_version = step.model_version();
    compiled.inputs = ToMappings(step.input_map());
    compiled.outputs = ToMappings(step.output_map());
  }
  return spec;
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

// As in Triton, the last entry for a family counts.
std::optional<std::vector<double>> ToFirstResponseBounds(const inference::ModelMetrics& metrics) {
  std::optional<std::vector<double>> bounds;
  for (const inference::ModelMetrics::MetricControl& control : metrics.metric_control()) {
    if (control.metric_identifier().family() != kFirstResponseFamily) continue;
    const auto& buckets = control.histogram_options().buckets();
    bounds.emplace(buckets.begin(), buckets.end());
  }
  return bounds;
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
  model.ensemble = ToEnsemble(config.ensemble_scheduling());
  model.sequence = ToSequence(config);
  model.keeps_state = model.sequence.enabled;
  model.states = ToStates(config);
  model.instances = ToInstances(config);
  model.warmup = ToWarmup(config);
  for (const auto& [key, parameter] : config.parameters()) {
    model.parameters[key] = parameter.string_value();
  }
  model.metric_tags.insert(config.metric_tags().begin(), config.metric_tags().end());
  model.first_response_ms = ToFirstResponseBounds(config.model_metrics());
  model.json = ModelConfigToJson(config);
  return model;
}

}  // namespace nereid
