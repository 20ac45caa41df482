// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/autocomplete.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

bool AllFirstDimsOpen(const Signature& signature) {
  const auto open = [](const ModelTensor& tensor) {
    return !tensor.is_tensor || tensor.first_is_open();
  };
  return std::all_of(signature.inputs.begin(), signature.inputs.end(), open) &&
         std::all_of(signature.outputs.begin(), signature.outputs.end(), open);
}

// If a listed tensor has as many dims as the model's, its dims include the batch dimension, so the
// configuration means a model without batching.
bool ListsFullShape(const ModelConfig& config, const Signature& signature) {
  for (const TensorConfig& input : config.inputs) {
    const ModelTensor* tensor = signature.FindInput(input.name);
    if (tensor != nullptr && !tensor->any_shape && !input.dims.empty() &&
        input.model_dims().size() == tensor->dims.size()) {
      return true;
    }
  }
  for (const TensorConfig& output : config.outputs) {
    const ModelTensor* tensor = signature.FindOutput(output.name);
    if (tensor != nullptr && !tensor->any_shape && !output.dims.empty() &&
        output.model_dims().size() == tensor->dims.size()) {
      return true;
    }
  }
  return false;
}

// The author has decided what the model looks like to clients, so nothing is guessed.
bool ListsAreGiven(const ModelConfig& config) {
  return !config.inputs.empty() && !config.outputs.empty();
}

// Tensors that the server provides or keeps itself.
struct ServerTensors {
  std::set<std::string> inputs;
  std::set<std::string> outputs;
};

ServerTensors CollectServerTensors(const ModelConfig& config) {
  ServerTensors tensors;
  for (const ControlConfig& control : config.controls) tensors.inputs.insert(control.input);
  for (const StateConfig& state : config.states) {
    tensors.inputs.insert(state.input_name);
    tensors.outputs.insert(state.output_name);
  }
  for (const Json& batch_input : config.json["batch_input"].items()) {
    for (const Json& target : batch_input["target_name"].items()) {
      tensors.inputs.insert(target.AsString());
    }
  }
  return tensors;
}

// Two tensors whose first dimensions have different names in the file: at most one of them can be
// the batch. Nulls if there are none.
std::pair<const ModelTensor*, const ModelTensor*> FindTwoFirstDims(const ModelConfig& config,
                                                                   const Signature& signature) {
  const ServerTensors server = CollectServerTensors(config);
  const ModelTensor* named = nullptr;
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    const std::set<std::string>& skip =
        tensors == &signature.inputs ? server.inputs : server.outputs;
    for (const ModelTensor& tensor : *tensors) {
      if (tensor.first_name.empty() || skip.count(tensor.name) > 0) continue;
      if (named != nullptr && named->first_name != tensor.first_name) return {named, &tensor};
      named = &tensor;
    }
  }
  return {};
}

// If the model does not specify a tensor's dims, the configuration must.
Error RequireShape(const ModelConfig& config, const char* key, const ModelTensor& tensor,
                   const Json& json) {
  if (!tensor.any_shape || !json["dims"].items().empty() || json["allow_ragged_batch"].AsBool()) {
    return Error();
  }
  return Error::InvalidArg(StrCat("unable to load model '", config.name,
                                  "': the model does not say which shape ", key, " '", tensor.name,
                                  "' has; list it in the configuration with its dims"));
}

// Adds data_type and dims to `json` if it lacks them.
void FillTensor(const ModelTensor& tensor, bool batching, Json* json) {
  if (ConfigTypeFromName((*json)["data_type"].AsString()) == TRITONSERVER_TYPE_INVALID) {
    json->Set("data_type", ConfigTypeName(tensor.type));
  }
  if (!(*json)["dims"].items().empty()) return;
  if ((*json)["allow_ragged_batch"].AsBool()) {
    // The model gets all elements end to end; the file does not specify the requests' shapes.
    json->Set("dims", JsonInts({-1}));
    return;
  }
  Shape dims = tensor.dims;
  if (batching && !dims.empty()) dims.erase(dims.begin());
  if (!dims.empty()) {
    json->Set("dims", JsonInts(dims));
    return;
  }
  // A configuration cannot have empty dims: clients send [1], and batches are reshaped.
  json->Set("dims", JsonInts({1}));
  if (!batching) return;
  Json reshape;
  reshape.Set("shape", Json::Array());
  json->Set("reshape", reshape);
}

using FindTensor = const ModelTensor* (Signature::*)(std::string_view) const;

// Fills the gaps of the entries of the list `key` that the configuration gives. What it does not
// list is left out on purpose.
Result<Json> FillList(const ModelConfig& config, const char* key, const Signature& signature,
                      FindTensor find, bool batching) {
  Json::Array list = config.json[key].items();
  for (Json& listed : list) {
    const ModelTensor* const tensor = (signature.*find)(listed["name"].AsString());
    if (tensor == nullptr) continue;  // CheckConfig says what is wrong
    NB_RETURN_IF_ERROR(RequireShape(config, key, *tensor, listed));
    if (tensor->type != TRITONSERVER_TYPE_INVALID) FillTensor(*tensor, batching, &listed);
  }
  return Json(std::move(list));
}

Error CheckAdded(const ModelConfig& config, const char* key, const ModelTensor& tensor,
                 bool batching) {
  if (tensor.type == TRITONSERVER_TYPE_INVALID) {
    return Error::Unsupported(StrCat("unable to load model '", config.name, "': ", key, " '",
                                     tensor.name, "' has a data type that can not be served",
                                     tensor.TypeNote()));
  }
  if (!batching || tensor.any_shape || tensor.first_is_open()) return Error();
  return Error::InvalidArg(StrCat(
      "autofill failed for model '", config.name,
      "': model does not support batching while non-zero max_batch_size is specified: ", key, " '",
      tensor.name, "' has shape ", ShapeToString(tensor.dims), "; set max_batch_size to 0"));
}

// The list `key` for a configuration that gives none: those of `tensors` that are not in `skip`.
Result<Json> MakeList(const ModelConfig& config, const char* key,
                      const std::vector<ModelTensor>& tensors, const std::set<std::string>& skip,
                      bool batching) {
  Json::Array list;
  for (const ModelTensor& tensor : tensors) {
    if (skip.count(tensor.name) > 0) continue;
    if (!tensor.is_tensor) {
      NB_LOG_WARNING("model '", config.name, "': ", key, " '", tensor.name,
                     "' is not a tensor and is left out of the configuration");
      continue;
    }
    NB_RETURN_IF_ERROR(CheckAdded(config, key, tensor, batching));
    Json added;
    added.Set("name", tensor.name);
    NB_RETURN_IF_ERROR(RequireShape(config, key, tensor, added));
    FillTensor(tensor, batching, &added);
    list.push_back(std::move(added));
  }
  return Json(std::move(list));
}

Result<Json> CompleteInputs(const ModelConfig& config, const Signature& signature, bool batching) {
  if (!config.inputs.empty()) {
    return FillList(config, "input", signature, &Signature::FindInput, batching);
  }
  return MakeList(config, "input", signature.inputs, CollectServerTensors(config).inputs, batching);
}

Result<Json> CompleteOutputs(const ModelConfig& config, const Signature& signature, bool batching) {
  if (!config.outputs.empty()) {
    return FillList(config, "output", signature, &Signature::FindOutput, batching);
  }
  return MakeList(config, "output", signature.outputs, CollectServerTensors(config).outputs,
                  batching);
}

// Where the names of first dimensions alone speak against it.
void SayWhyNoBatching(const ModelConfig& config, const Signature& signature) {
  if (!AllFirstDimsOpen(signature) || ListsFullShape(config, signature)) return;
  const auto [one, other] = FindTwoFirstDims(config, signature);
  if (one == nullptr) return;
  NB_LOG_INFO("model '", config.name, "': the first dimension of '", one->name, "' is called '",
              one->first_name, "' in the file, that of '", other->name, "' '", other->first_name,
              "', so max_batch_size is 0; if both are the batch, set max_batch_size in the "
              "configuration");
}

}  // namespace

int64_t ChooseMaxBatchSize(const ModelConfig& config, const Signature& signature,
                           int64_t default_max_batch_size) {
  if (config.batching() || ListsAreGiven(config)) return config.max_batch_size;
  const bool batches = AllFirstDimsOpen(signature) && !ListsFullShape(config, signature) &&
                       FindTwoFirstDims(config, signature).first == nullptr;
  return batches ? default_max_batch_size : 0;
}

Result<Json> AutoCompleteConfig(const ModelConfig& config, const Signature& signature,
                                int64_t default_max_batch_size) {
  const int64_t max_batch_size = ChooseMaxBatchSize(config, signature, default_max_batch_size);
  const bool batching = max_batch_size > 0;
  Json json = config.json;
  NB_ASSIGN_OR_RETURN(Json inputs, CompleteInputs(config, signature, batching));
  NB_ASSIGN_OR_RETURN(Json outputs, CompleteOutputs(config, signature, batching));
  json.Set("max_batch_size", max_batch_size);
  json.Set("input", std::move(inputs));
  json.Set("output", std::move(outputs));
  if (ListsAreGiven(config)) return json;
  if (!batching && default_max_batch_size > 0) SayWhyNoBatching(config, signature);
  const bool has_scheduler = json.Has("dynamic_batching") || json.Has("sequence_batching");
  if (max_batch_size > 1 && !has_scheduler) json.Set("dynamic_batching", Json::MakeObject());
  return json;
}

}  // namespace nereid_backend
