// SPDX-License-Identifier: Apache-2.0
// The answers of gRPC. The numbers are those of proto/grpc_service.proto and
// proto/model_config.proto.
#include <functional>

#include "apps/loadgen/proto_fields.h"
#include "base/status_macros.h"
#include "bench/model_description.h"

namespace nereid::bench {
namespace {

using Visit = std::function<absl::Status(const ProtoField&)>;

absl::Status ForEachField(absl::string_view message, const Visit& visit) {
  while (!message.empty()) {
    ASSIGN_OR_RETURN(const ProtoField field, TakeField(&message));
    RETURN_IF_ERROR(visit(field));
  }
  return absl::OkStatus();
}

// Numbers of a repeated field, packed or one by one.
absl::Status AppendNumbers(const ProtoField& field, std::vector<int64_t>* numbers) {
  if (field.type == ProtoField::kVarint) {
    numbers->push_back(static_cast<int64_t>(field.varint));
    return absl::OkStatus();
  }
  absl::string_view packed = field.bytes;
  while (!packed.empty()) {
    ASSIGN_OR_RETURN(const uint64_t number, TakeVarint(&packed));
    numbers->push_back(static_cast<int64_t>(number));
  }
  return absl::OkStatus();
}

// ModelMetadataResponse.TensorMetadata
absl::Status AppendTensor(absl::string_view message, std::vector<TensorDescription>* tensors) {
  TensorDescription& tensor = tensors->emplace_back();
  return ForEachField(message, [&](const ProtoField& field) {
    if (field.number == 1) tensor.name = std::string(field.bytes);
    if (field.number == 2) tensor.type = ParseDataType(field.bytes);
    return field.number == 3 ? AppendNumbers(field, &tensor.shape) : absl::OkStatus();
  });
}

// ModelInput of a configuration: whether it is optional.
absl::Status ReadInput(absl::string_view message, ModelDescription* model) {
  std::string name;
  bool optional = false;
  RETURN_IF_ERROR(ForEachField(message, [&](const ProtoField& field) {
    if (field.number == 1) name = std::string(field.bytes);
    if (field.number == 8) optional = field.varint != 0;
    return absl::OkStatus();
  }));
  for (TensorDescription& tensor : model->inputs) {
    if (tensor.name == name) tensor.optional = optional;
  }
  return absl::OkStatus();
}

// StatisticDuration
absl::Status AddDuration(absl::string_view message, ModelCounts::Duration* to) {
  return ForEachField(message, [&](const ProtoField& field) {
    if (field.number == 1) to->count += field.varint;
    if (field.number == 2) to->nanoseconds += field.varint;
    return absl::OkStatus();
  });
}

// InferStatistics
absl::Status AddTimes(absl::string_view message, ModelCounts* counts) {
  return ForEachField(message, [&](const ProtoField& field) {
    switch (field.number) {
      case 1:
        return AddDuration(field.bytes, &counts->success);
      case 3:
        return AddDuration(field.bytes, &counts->queue);
      case 4:
        return AddDuration(field.bytes, &counts->compute_input);
      case 5:
        return AddDuration(field.bytes, &counts->compute_infer);
      case 6:
        return AddDuration(field.bytes, &counts->compute_output);
      default:
        return absl::OkStatus();
    }
  });
}

// ModelStatistics
absl::Status AddModel(absl::string_view message, ModelCounts* counts) {
  return ForEachField(message, [&](const ProtoField& field) {
    if (field.number == 4) counts->inferences += field.varint;
    if (field.number == 5) counts->executions += field.varint;
    return field.number == 6 ? AddTimes(field.bytes, counts) : absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<ModelDescription> MetadataFromProto(absl::string_view message) {
  ModelDescription model;
  RETURN_IF_ERROR(ForEachField(message, [&](const ProtoField& field) {
    if (field.number == 1) model.name = std::string(field.bytes);
    if (field.number == 4) return AppendTensor(field.bytes, &model.inputs);
    return field.number == 5 ? AppendTensor(field.bytes, &model.outputs) : absl::OkStatus();
  }));
  return model;
}

absl::Status AddConfigFromProto(absl::string_view message, ModelDescription* model) {
  model->max_batch_size = 0;
  return ForEachField(message, [&](const ProtoField& response) {
    if (response.number != 1) return absl::OkStatus();
    return ForEachField(response.bytes, [&](const ProtoField& field) {
      if (field.number == 4) model->max_batch_size = static_cast<int64_t>(field.varint);
      if (field.number == 5) return ReadInput(field.bytes, model);
      if (field.number != 19) return absl::OkStatus();
      return ForEachField(field.bytes, [&](const ProtoField& policy) {
        if (policy.number == 1) model->decoupled = policy.varint != 0;
        return absl::OkStatus();
      });
    });
  });
}

absl::StatusOr<ModelCounts> CountsFromProto(absl::string_view message) {
  ModelCounts counts;
  RETURN_IF_ERROR(ForEachField(message, [&](const ProtoField& field) {
    return field.number == 1 ? AddModel(field.bytes, &counts) : absl::OkStatus();
  }));
  return counts;
}

}  // namespace nereid::bench
