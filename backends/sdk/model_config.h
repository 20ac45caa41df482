// SPDX-License-Identifier: Apache-2.0
// ModelConfig: what a backend needs to know of a model's configuration, read once at load, and the
// settings given on the server's command line. Immutable after reading.
#ifndef NEREID_BACKENDS_SDK_MODEL_CONFIG_H_
#define NEREID_BACKENDS_SDK_MODEL_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// -1: any size.
using Shape = std::vector<int64_t>;

// One `input` or `output` of the configuration.
struct TensorConfig {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  Shape dims;                    // as seen by clients, without the batch dimension
  std::optional<Shape> reshape;  // as seen by the model, if different
  bool optional = false;
  bool ragged = false;

  // The shape that reaches the backend, without the batch dimension.
  const Shape& model_dims() const { return reshape ? *reshape : dims; }
};

// One control of a `sequence_batching.control_input`: one element per request.
struct ControlConfig {
  std::string input;
  std::string kind;  // "CONTROL_SEQUENCE_START"
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
};

// One `sequence_batching.state`.
struct StateConfig {
  std::string input_name;
  std::string output_name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  Shape dims;
};

struct ModelConfig {
  std::string name;
  int64_t version = 0;
  std::string directory;  // <repository>/<model>
  bool auto_complete = false;
  int64_t max_batch_size = 0;
  std::string default_model_filename;
  std::vector<TensorConfig> inputs;
  std::vector<TensorConfig> outputs;
  std::vector<ControlConfig> controls;  // of the sequence batcher
  std::vector<StateConfig> states;
  bool decoupled = false;
  Json json;  // the whole configuration

  bool batching() const { return max_batch_size > 0; }
  // `parameters { key value { string_value } }`, or `fallback`. Backends with a table of their
  // parameters use ReadParameters (options.h).
  std::string Parameter(std::string_view key, std::string_view fallback = "") const;
  // How many instances `instance_group` asks for, 1 to 32767; a group without a count has one.
  int InstanceCount() const;
  // Paths of `model_operations.op_library_filename`; a relative name is one of the model's folder.
  std::vector<std::string> OperatorLibraries() const;
  const TensorConfig* FindInput(std::string_view name) const;
  const TensorConfig* FindOutput(std::string_view name) const;
};

// Reads the configuration of `model` through the backend API.
Result<ModelConfig> ReadModelConfig(TRITONBACKEND_Model* model);

// Reads the fields from the JSON text of a configuration (what ReadModelConfig does after asking).
Result<ModelConfig> ParseModelConfig(std::string_view text);

// Passes a completed configuration to the server. Only during ModelInitialize.
Error SetModelConfig(TRITONBACKEND_Model* model, const Json& config);

// The `cmdline` object of the backend's settings: --backend-config=<backend>,<key>=<value>.
Result<Json> ReadBackendSettings(TRITONBACKEND_Backend* backend);

// The folder of the backend's files.
Result<std::string> BackendFolder(TRITONBACKEND_Backend* backend);

// Name of a type in a model configuration ("TYPE_FP32", "TYPE_STRING"), and back.
std::string ConfigTypeName(TRITONSERVER_DataType type);
TRITONSERVER_DataType ConfigTypeFromName(std::string_view name);

// An integer in [min, max], or INVALID_ARG that names `what`.
Result<int64_t> ParseInt(std::string_view what, std::string_view text, int64_t min, int64_t max);

// "[2,-1]".
std::string ShapeToString(const Shape& shape);
std::string ShapeToString(const int64_t* dims, size_t count);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_MODEL_CONFIG_H_
