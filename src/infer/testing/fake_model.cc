// SPDX-License-Identifier: Apache-2.0
#include "infer/testing/fake_model.h"

#include <algorithm>
#include <utility>

namespace nereid {

ModelBuilder::ModelBuilder(std::string name) {
  model_.name = std::move(name);
  model_.version = 1;
  model_.backend = "fake";
  Instances(1);
}

ModelBuilder& ModelBuilder::MaxBatch(int32_t size) {
  model_.max_batch_size = size;
  return *this;
}

ModelBuilder& ModelBuilder::Input(InputSpec spec) {
  model_.inputs.push_back(std::move(spec));
  return *this;
}

ModelBuilder& ModelBuilder::Input(std::string name, DataType type, Shape dims) {
  InputSpec spec;
  spec.name = std::move(name);
  spec.data_type = type;
  spec.dims = std::move(dims);
  return Input(std::move(spec));
}

ModelBuilder& ModelBuilder::Output(OutputSpec spec) {
  model_.outputs.push_back(std::move(spec));
  return *this;
}

ModelBuilder& ModelBuilder::Output(std::string name, DataType type, Shape dims) {
  OutputSpec spec;
  spec.name = std::move(name);
  spec.data_type = type;
  spec.dims = std::move(dims);
  return Output(std::move(spec));
}

ModelBuilder& ModelBuilder::State(StateSpec spec) {
  if (model_.max_batch_size > 0) spec.start_shape.push_back(1);
  for (int64_t dim : spec.dims) spec.start_shape.push_back(dim == kVariableDim ? 1 : dim);
  const uint64_t element =
      spec.data_type == DataType::kBytes ? 4 : DataTypeByteSize(spec.data_type);
  spec.start_byte_size = static_cast<uint64_t>(*ElementCount(spec.start_shape)) * element;
  model_.states.push_back(std::move(spec));
  return *this;
}

ModelBuilder& ModelBuilder::Batching(std::vector<int32_t> preferred, Duration max_delay) {
  model_.batching.enabled = true;
  model_.batching.preferred_batch_sizes = std::move(preferred);
  model_.batching.max_queue_delay = max_delay;
  return *this;
}

ModelBuilder& ModelBuilder::Priorities(uint64_t levels) {
  model_.batching.priority_levels = levels;
  model_.batching.default_priority_level = levels;
  return *this;
}

ModelBuilder& ModelBuilder::Policy(const QueuePolicy& policy, uint64_t level) {
  if (level == 0) {
    model_.batching.default_queue_policy = policy;
  } else {
    model_.batching.priority_queue_policy[level] = policy;
  }
  return *this;
}

ModelBuilder& ModelBuilder::Instances(int count) {
  model_.instances.clear();
  for (int i = 0; i < count; ++i) {
    InstanceSpec instance;
    instance.name = model_.name + "_" + std::to_string(i);
    model_.instances.push_back(std::move(instance));
  }
  return *this;
}

CompiledModel ModelBuilder::Build() const {
  CompiledModel model = model_;
  for (InputSpec& input : model.inputs) {
    if (input.optional) {
      model.has_optional_inputs = true;
    } else {
      ++model.required_input_count;
    }
    const bool varies =
        std::find(input.dims.begin(), input.dims.end(), kVariableDim) != input.dims.end();
    if (varies && !input.allow_ragged) model.needs_shape_equality = true;
    if (!varies) input.byte_size = TensorByteSize(input.data_type, input.dims);
  }
  BatchingOptions& batching = model.batching;
  if (batching.enabled && batching.preferred_batch_sizes.empty() && model.max_batch_size > 0) {
    batching.preferred_batch_sizes.push_back(model.max_batch_size);
  }
  return model;
}

absl::Status FakeModel::Enqueue(RequestPtr* request) {
  if (on_enqueue) return on_enqueue(request);
  return absl::UnavailableError("the fake model takes no requests");
}

void FakeModel::OnCancel(InferRequest* request) {
  ++cancels_;
  if (on_cancel) on_cancel(request);
}

}  // namespace nereid
