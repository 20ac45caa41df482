// SPDX-License-Identifier: Apache-2.0
// The tensors that an ONNX file declares, read before a session is made: what the session's memory
// options depend on. Needs nothing of the runtime. Stateless.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_DECLARED_SIGNATURE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_DECLARED_SIGNATURE_H_

#include <optional>
#include <string>

#include "backends/sdk/graph/signature.h"

namespace nereid_backend {

// The name of an open dimension, or nothing if it is one of those that exporters make for each
// dimension of each tensor, so that they say nothing of equal sizes: "unk__7" (tf2onnx),
// "x_dynamic_axes_1" (PyTorch), "DynamicDimension.0" (Paddle).
std::string MeaningfulName(const std::string& name);

// Names and shapes without the types. Weights are skipped, not read. Nothing if the file is no ONNX
// model in protobuf: it may be in another format of the runtime, or damaged. Nothing either if it
// has more inputs or outputs than any model: each takes two bytes there, and a hundred here.
//
// The runtime may know more: it infers shapes that the file leaves out.
std::optional<Signature> ReadDeclaredSignature(const std::string& path);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_DECLARED_SIGNATURE_H_
