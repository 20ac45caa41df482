// Reads any bytes as a MetaGraphDef, without a fault, and chooses among the signatures found.
#include <cstddef>
#include <cstdint>

#include "backends/tensorflow/worker/meta_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<nereid_tensorflow::SignatureDef> signatures;
  nereid_tensorflow::ReadSignatures({reinterpret_cast<const char*>(data), size}, &signatures);
  const nereid_tensorflow::SignatureDef* chosen = nullptr;
  const nereid_tensorflow::Status status =
      nereid_tensorflow::ChooseSignature(signatures, "", &chosen);
  if (status.ok() != (chosen != nullptr)) __builtin_trap();
  if (!status.ok()) return 0;
  for (const nereid_tensorflow::SignatureTensor& tensor : chosen->inputs) {
    std::string operation;
    int index = 0;
    const bool named = nereid_tensorflow::ParseTensorName(tensor.graph_tensor, &operation, &index);
    if (named && index < 0) __builtin_trap();
  }
  return 0;
}
