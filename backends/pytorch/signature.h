// SPDX-License-Identifier: Apache-2.0
// Takes types and shapes, which PyTorch's files do not contain, from the configuration. Pure.
#ifndef NEREID_BACKENDS_PYTORCH_SIGNATURE_H_
#define NEREID_BACKENDS_PYTORCH_SIGNATURE_H_

#include "backends/pytorch/forward.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/json.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// The tensors of a network as its configuration describes them. An Error for lists of strings that
// are not one-dimensional, and for a type that PyTorch does not have.
Result<Signature> SignatureFromConfig(const ModelConfig& config);

// Adds inputs and outputs to a configuration that lists none, if the file fully determines them, as
// it does for lists of strings. Otherwise INVALID_ARG, which says what the configuration must
// contain.
Result<Json> CompleteConfig(const ModelConfig& config, const Forward& forward);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SIGNATURE_H_
