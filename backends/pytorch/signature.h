// What the files of PyTorch do not say, the configuration does: types and shapes. Pure.
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

// The configuration with inputs and outputs where it lists none and the file tells all about them:
// lists of strings. Otherwise INVALID_ARG, which says what the configuration has to hold.
Result<Json> CompleteConfig(const ModelConfig& config, const Forward& forward);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SIGNATURE_H_
