// SPDX-License-Identifier: Apache-2.0
// Changes a model's shapes before it is compiled: to the shapes in the configuration, and to a
// variable batch dimension. Stateless functions.
#ifndef NEREID_BACKENDS_OPENVINO_SHAPES_H_
#define NEREID_BACKENDS_OPENVINO_SHAPES_H_

#include <memory>
#include <openvino/core/model.hpp>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// Gives the model's inputs the shapes of the configuration (RESHAPE_IO_LAYERS). INTERNAL if the
// configuration has a dimension of 0 or the model cannot take those shapes.
Error ReshapeToConfig(const ModelConfig& config, ov::Model* model);

// A copy of `model` whose inputs have this first dimension. Throws ov::Exception if the model
// cannot have it.
std::shared_ptr<ov::Model> WithFirstDimension(const ov::Model& model, const ov::Dimension& first);

// Makes the first dimension of all inputs variable if the model has a fixed batch, nothing else
// prevents batching, and batching is wanted. It is wanted if max_batch_size says so or, in a
// configuration that is to be completed and lists no tensors, if the layouts in the file call the
// first dimension of all inputs and outputs N. INVALID_ARG, with the reason, if max_batch_size asks
// for batching and the model cannot do it. A model with its own states is left unchanged, because
// the shapes of the states do not follow.
Error OpenBatchDimension(const ModelConfig& config, std::shared_ptr<ov::Model>* model);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_SHAPES_H_
