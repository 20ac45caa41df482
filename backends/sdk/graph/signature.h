// SPDX-License-Identifier: Apache-2.0
// Signature: the inputs and outputs of a model's file, as its runtime reports them. Immutable after
// reading.
#ifndef NEREID_BACKENDS_SDK_GRAPH_SIGNATURE_H_
#define NEREID_BACKENDS_SDK_GRAPH_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

struct ModelTensor {
  std::string name;
  bool is_tensor = true;  // false: a sequence, a map or an optional, which no client can send
  // INVALID: a type that the protocol does not have.
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::string type_name;  // the runtime's own name of the type, for messages; may be empty
  // With the batch dimension; -1 for open dimensions. Empty: a scalar, or no shape given.
  Shape dims;
  // The file gives no shape, not even the number of dimensions; `dims` is empty.
  bool any_shape = false;
  // The name that the author of the file gave the open first dimension ("batch"); empty if there is
  // none. Equal names are equal sizes.
  std::string first_name;

  // " (u4)", or nothing if the runtime's name of the type is unknown.
  std::string TypeNote() const { return type_name.empty() ? "" : " (" + type_name + ")"; }

  bool first_is_open() const { return !dims.empty() && dims[0] < 0; }
};

struct Signature {
  std::vector<ModelTensor> inputs;
  std::vector<ModelTensor> outputs;
  // Inputs for which the file has a value, so that a request may omit them. They are served only if
  // the configuration lists them.
  std::vector<ModelTensor> defaulted;

  // Among `inputs` and `defaulted`.
  const ModelTensor* FindInput(std::string_view name) const;
  const ModelTensor* FindOutput(std::string_view name) const;
  // True if an input has an open dimension other than the batch dimension.
  bool HasOpenShapes(bool batching) const;
  // "X, Y".
  static std::string Names(const std::vector<ModelTensor>& tensors);
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_SIGNATURE_H_
