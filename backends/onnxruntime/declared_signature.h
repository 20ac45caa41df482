// The tensors that an ONNX file declares, read before a session is made: what the session's memory
// options depend on. Stateless.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_DECLARED_SIGNATURE_H_
#define NEREID_BACKENDS_ONNXRUNTIME_DECLARED_SIGNATURE_H_

#include <optional>
#include <string>

#include "backends/sdk/graph/signature.h"

namespace nereid_backend {

// Names and shapes without the types. Weights are skipped, not read. Nothing if the file is no ONNX
// model in protobuf: it may be in another format of the runtime, or damaged.
//
// The runtime may know more: it infers shapes that the file leaves out.
std::optional<Signature> ReadDeclaredSignature(const std::string& path);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_DECLARED_SIGNATURE_H_
