// SPDX-License-Identifier: Apache-2.0
// The signatures of a SavedModel, from its MetaGraphDef in wire format. Pure functions.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_META_GRAPH_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_META_GRAPH_H_

#include <string>
#include <string_view>
#include <vector>

#include "backends/tensorflow/ipc/messages.h"

namespace nereid_tensorflow {

// An input or output of a signature.
struct SignatureTensor {
  TensorDescription description;  // the name is the signature's
  std::string graph_tensor;       // "serving_default_x:0"; empty if it is not a single tensor
};

struct SignatureDef {
  std::string name;
  std::vector<SignatureTensor> inputs;  // by name
  std::vector<SignatureTensor> outputs;
};

// All signatures, by name. False if `meta_graph` is not a MetaGraphDef.
bool ReadSignatures(std::string_view meta_graph, std::vector<SignatureDef>* signatures);

// The signature called `wanted`; if that is empty, serving_default or the only one meant for
// serving. An error lists the existing signatures.
Status ChooseSignature(const std::vector<SignatureDef>& signatures, std::string_view wanted,
                       const SignatureDef** chosen);

// "name:2" -> name, 2; without a colon the index is 0. False if the index is invalid.
bool ParseTensorName(std::string_view text, std::string* operation, int* index);

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_META_GRAPH_H_
