// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/model_config.h"

#include <algorithm>
#include <charconv>
#include <memory>

namespace nereid_backend {
namespace {

TensorConfig ReadTensor(const Json& json) {
  TensorConfig tensor;
  tensor.name = json["name"].AsString();
  tensor.type = ConfigTypeFromName(json["data_type"].AsString());
  tensor.dims = json["dims"].AsInts();
  if (json.Has("reshape")) tensor.reshape = json["reshape"]["shape"].AsInts();
  tensor.optional = json["optional"].AsBool();
  tensor.ragged = json["allow_ragged_batch"].AsBool();
  return tensor;
}

const TensorConfig* FindByName(const std::vector<TensorConfig>& tensors, std::string_view name) {
  for (const TensorConfig& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

// Deletes the message, also if an exception is thrown.
struct MessageDeleter {
  void operator()(TRITONSERVER_Message* message) const {
    const Error ignored(TRITONSERVER_MessageDelete(message));
  }
};
using OwnedMessage = std::unique_ptr<TRITONSERVER_Message, MessageDeleter>;

Result<Json> ReadMessage(TRITONSERVER_Message* message) {
  const char* text = nullptr;
  size_t size = 0;
  Error error(TRITONSERVER_MessageSerializeToJson(message, &text, &size));
  return error.ok() ? Json::Parse({text, size}) : Result<Json>(std::move(error));
}

// A missing kind means the first value of the enumeration.
ControlConfig ReadControl(std::string input, const Json& control) {
  ControlConfig config;
  config.input = std::move(input);
  config.kind = control["kind"].AsString("CONTROL_SEQUENCE_START");
  if (!control["int32_false_true"].items().empty()) {
    config.type = TRITONSERVER_TYPE_INT32;
  } else if (!control["fp32_false_true"].items().empty()) {
    config.type = TRITONSERVER_TYPE_FP32;
  } else if (!control["bool_false_true"].items().empty()) {
    config.type = TRITONSERVER_TYPE_BOOL;
  } else {
    config.type = ConfigTypeFromName(control["data_type"].AsString());
  }
  return config;
}

void ReadFields(const Json& json, ModelConfig* config) {
  config->name = json["name"].AsString();
  config->max_batch_size = json["max_batch_size"].AsInt();
  config->default_model_filename = json["default_model_filename"].AsString();
  for (const Json& input : json["input"].items()) config->inputs.push_back(ReadTensor(input));
  for (const Json& output : json["output"].items()) config->outputs.push_back(ReadTensor(output));
  const Json& sequence = json["sequence_batching"];
  for (const Json& input : sequence["control_input"].items()) {
    for (const Json& control : input["control"].items()) {
      config->controls.push_back(ReadControl(input["name"].AsString(), control));
    }
  }
  for (const Json& state : sequence["state"].items()) {
    config->states.push_back(
        StateConfig{state["input_name"].AsString(), state["output_name"].AsString(),
                    ConfigTypeFromName(state["data_type"].AsString()), state["dims"].AsInts()});
  }
  config->decoupled = json["model_transaction_policy"]["decoupled"].AsBool();
}

}  // namespace

std::string ModelConfig::Parameter(std::string_view key, std::string_view fallback) const {
  return json["parameters"][key]["string_value"].AsString(fallback);
}

int ModelConfig::InstanceCount() const {
  int64_t count = 0;
  for (const Json& group : json["instance_group"].items()) {
    count += std::clamp<int64_t>(group["count"].AsInt(1), 1, INT16_MAX);
  }
  return static_cast<int>(std::clamp<int64_t>(count, 1, INT16_MAX));
}

std::vector<std::string> ModelConfig::OperatorLibraries() const {
  std::vector<std::string> paths;
  for (const Json& library : json["model_operations"]["op_library_filename"].items()) {
    const std::string path = library.AsString();
    paths.push_back(path.starts_with('/') ? path : StrCat(directory, "/", path));
  }
  return paths;
}

const TensorConfig* ModelConfig::FindInput(std::string_view name) const {
  return FindByName(inputs, name);
}

const TensorConfig* ModelConfig::FindOutput(std::string_view name) const {
  return FindByName(outputs, name);
}

Result<ModelConfig> ParseModelConfig(std::string_view text) {
  ModelConfig config;
  NB_ASSIGN_OR_RETURN(config.json, Json::Parse(text));
  ReadFields(config.json, &config);
  return config;
}

Result<ModelConfig> ReadModelConfig(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* message = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelConfig(model, 1, &message));
  const OwnedMessage owned(message);
  ModelConfig config;
  NB_ASSIGN_OR_RETURN(config.json, ReadMessage(message));
  ReadFields(config.json, &config);

  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelName(model, &name));
  config.name = name;
  uint64_t version = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelVersion(model, &version));
  config.version = static_cast<int64_t>(version);
  TRITONBACKEND_ArtifactType artifact = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* directory = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelRepository(model, &artifact, &directory));
  if (artifact != TRITONBACKEND_ARTIFACT_FILESYSTEM) {
    return Error::Unsupported(StrCat("unsupported artifact type for model '", name, "'"));
  }
  config.directory = directory;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelAutoCompleteConfig(model, &config.auto_complete));
  return config;
}

Error SetModelConfig(TRITONBACKEND_Model* model, const Json& config) {
  const std::string text = config.Write();
  TRITONSERVER_Message* message = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size()));
  const OwnedMessage owned(message);
  return Error(TRITONBACKEND_ModelSetConfig(model, 1, message));
}

Result<Json> ReadBackendSettings(TRITONBACKEND_Backend* backend) {
  TRITONSERVER_Message* message = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendConfig(backend, &message));
  NB_ASSIGN_OR_RETURN(Json json, ReadMessage(message));
  return json["cmdline"];
}

Result<std::string> BackendFolder(TRITONBACKEND_Backend* backend) {
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* folder = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendArtifacts(backend, &type, &folder));
  return std::string(folder);
}

std::string ConfigTypeName(TRITONSERVER_DataType type) {
  if (type == TRITONSERVER_TYPE_BYTES) return "TYPE_STRING";
  if (type == TRITONSERVER_TYPE_INVALID) return "TYPE_INVALID";
  return std::string("TYPE_") + TRITONSERVER_DataTypeString(type);
}

TRITONSERVER_DataType ConfigTypeFromName(std::string_view name) {
  constexpr std::string_view kPrefix = "TYPE_";
  if (name.substr(0, kPrefix.size()) != kPrefix) return TRITONSERVER_TYPE_INVALID;
  const std::string bare(name.substr(kPrefix.size()));
  if (bare == "STRING") return TRITONSERVER_TYPE_BYTES;
  return TRITONSERVER_StringToDataType(bare.c_str());
}

Result<int64_t> ParseInt(std::string_view what, std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || at != end || value < min || value > max) {
    return Error::InvalidArg(
        StrCat(what, " must be an integer from ", min, " to ", max, ", got '", text, "'"));
  }
  return value;
}

std::string ShapeToString(const int64_t* dims, size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::string ShapeToString(const Shape& shape) { return ShapeToString(shape.data(), shape.size()); }

}  // namespace nereid_backend
