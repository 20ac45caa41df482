// SPDX-License-Identifier: Apache-2.0
// Compares a configuration with the model that it is for. Pure.
#ifndef NEREID_BACKENDS_SDK_GRAPH_CHECK_H_
#define NEREID_BACKENDS_SDK_GRAPH_CHECK_H_

#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// INVALID_ARG, naming the tensor, the expectation and the finding, if the configuration lists a
// tensor that the model lacks or that has another type or shape, leaves an input of the model
// without a source, asks for batching that the model cannot do, or has ragged inputs, batch inputs
// or batch outputs that do not suit the model. UNSUPPORTED for a type that cannot be served.
Error CheckConfig(const ModelConfig& config, const Signature& signature);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_CHECK_H_
