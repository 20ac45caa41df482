// What the worker found in a model's files, as the SDK's Signature. Pure.
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

// The tensors that `config` can be served with. Of a SavedModel: all of the signature. Of a
// GraphDef: the placeholders that the configuration names, or all where it names none. UNSUPPORTED,
// with the name of the type, when one of them has a type that the protocol lacks.
Result<Signature> MakeSignature(const ModelConfig& config, nereid_tensorflow::ModelFormat format,
                                const nereid_tensorflow::LoadReply& loaded);

// The index of the tensor called `name`. REQUIRES: there is one.
uint32_t IndexOf(const std::vector<nereid_tensorflow::TensorDescription>& tensors,
                 std::string_view name);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_SIGNATURE_H_
