// SPDX-License-Identifier: Apache-2.0
// Converts what the worker found in a model's files to the SDK's Signature. Pure.
#ifndef NEREID_BACKENDS_TENSORFLOW_SIGNATURE_H_
#define NEREID_BACKENDS_TENSORFLOW_SIGNATURE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"
#include "backends/tensorflow/ipc/messages.h"

namespace nereid_backend {

// The tensors that `config` can be served with. For a SavedModel: all tensors of the signature. For
// a GraphDef: the placeholders that the configuration names, or all if it names none. UNSUPPORTED,
// with the name of the type, if one of them has a type that the protocol lacks.
Result<Signature> MakeSignature(const ModelConfig& config, nereid_tensorflow::ModelFormat format,
                                const nereid_tensorflow::LoadReply& loaded);

// The index of the tensor called `name`. REQUIRES: there is one.
uint32_t IndexOf(const std::vector<nereid_tensorflow::TensorDescription>& tensors,
                 std::string_view name);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_SIGNATURE_H_
