// Changes of a model's shapes before it is compiled: to those of the configuration, and to a
// variable batch dimension. Stateless functions.
#ifndef NEREID_BACKENDS_OPENVINO_SHAPES_H_
#define NEREID_BACKENDS_OPENVINO_SHAPES_H_

#include <memory>
#include <openvino/core/model.hpp>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// Gives the model's inputs the shapes of the configuration (RESHAPE_IO_LAYERS).
// INTERNAL when the configuration has a dimension of 0 or the model cannot have those shapes.
Error ReshapeToConfig(const ModelConfig& config, ov::Model* model);

// Makes the first dimension of all inputs variable where the model has a fixed batch, nothing but
// that stands in the way of batching, and batching is wanted: by max_batch_size, or, in a
// configuration that is to be completed and lists no tensors, by the layouts of the file, which
// call the first dimension of all inputs and outputs N.
// INVALID_ARG, saying why, when max_batch_size asks for it and the model cannot do it. A model with
// states of its own stays as it is: their shapes do not follow.
Error OpenBatchDimension(const ModelConfig& config, std::shared_ptr<ov::Model>* model);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_SHAPES_H_
