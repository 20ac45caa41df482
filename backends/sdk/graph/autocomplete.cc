#include "backends/sdk/graph/autocomplete.h"

#include <algorithm>
#include <set>

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

int64_t ChooseMaxBatchSize(const ModelConfig& config, const Signature& signature,
                           int64_t default_max_batch_size) {
  if (config.batching()) return config.max_batch_size;
  if (!AllFirstDimsOpen(signature) || ListsFullShape(config, signature)) return 0;
  return default_max_batch_size;
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

// The list `key` of the configuration, completed with those of `tensors` that are not in `skip`.
Result<Json> CompleteList(const ModelConfig& config, const char* key,
                          const std::vector<ModelTensor>& tensors,
                          const std::set<std::string>& skip, bool batching) {
  Json::Array list = config.json[key].items();
  for (const ModelTensor& tensor : tensors) {
    const auto listed = std::find_if(list.begin(), list.end(), [&](const Json& item) {
      return item["name"].AsString() == tensor.name;
    });
    if (listed != list.end()) {
      NB_RETURN_IF_ERROR(RequireShape(config, key, tensor, *listed));
      if (tensor.type != TRITONSERVER_TYPE_INVALID) FillTensor(tensor, batching, &*listed);
      continue;
    }
    if (skip.count(tensor.name) > 0) continue;
    if (!tensor.is_tensor) {
      NB_LOG_WARNING("model '", config.name, "': ", key, " '", tensor.name,
                     "' is not a tensor and is left out of the configuration");
      continue;
    }
    if (tensor.type == TRITONSERVER_TYPE_INVALID) {
      return Error::Unsupported(StrCat("unable to load model '", config.name, "': ", key, " '",
                                       tensor.name, "' has a data type that can not be served",
                                       tensor.TypeNote()));
    }
    Json added;
    added.Set("name", tensor.name);
    NB_RETURN_IF_ERROR(RequireShape(config, key, tensor, added));
    FillTensor(tensor, batching, &added);
    list.push_back(std::move(added));
  }
  return Json(std::move(list));
}

// Tensors that the server provides or keeps itself.
void CollectServerTensors(const ModelConfig& config, std::set<std::string>* inputs,
                          std::set<std::string>* outputs) {
  for (const ControlConfig& control : config.controls) inputs->insert(control.input);
  for (const StateConfig& state : config.states) {
    inputs->insert(state.input_name);
    outputs->insert(state.output_name);
  }
  for (const Json& batch_input : config.json["batch_input"].items()) {
    for (const Json& target : batch_input["target_name"].items()) inputs->insert(target.AsString());
  }
}

}  // namespace

Result<Json> AutoCompleteConfig(const ModelConfig& config, const Signature& signature,
                                int64_t default_max_batch_size) {
  const int64_t max_batch_size = ChooseMaxBatchSize(config, signature, default_max_batch_size);
  const bool batching = max_batch_size > 0;
  std::set<std::string> server_inputs;
  std::set<std::string> server_outputs;
  CollectServerTensors(config, &server_inputs, &server_outputs);

  Json json = config.json;
  json.Set("max_batch_size", max_batch_size);
  NB_ASSIGN_OR_RETURN(Json inputs,
                      CompleteList(config, "input", signature.inputs, server_inputs, batching));
  NB_ASSIGN_OR_RETURN(Json outputs,
                      CompleteList(config, "output", signature.outputs, server_outputs, batching));
  json.Set("input", std::move(inputs));
  json.Set("output", std::move(outputs));
  const bool has_scheduler = json.Has("dynamic_batching") || json.Has("sequence_batching");
  if (max_batch_size > 1 && !has_scheduler) json.Set("dynamic_batching", Json::MakeObject());
  return json;
}

}  // namespace nereid_backend
