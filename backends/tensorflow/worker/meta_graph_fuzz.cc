// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a MetaGraphDef, without a fault, and chooses among the signatures found. Also
// as a list of operators, a graph and a SavedModel.
#include <cstddef>
#include <cstdint>

#include "backends/tensorflow/worker/meta_graph.h"
#include "backends/tensorflow/worker/plain_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const nereid_tensorflow::OperatorNames plain = nereid_tensorflow::PlainOperators(bytes);
  nereid_tensorflow::IsPlainGraph(bytes, plain);
  nereid_tensorflow::IsPlainSavedModel(bytes, plain);
  std::vector<nereid_tensorflow::SignatureDef> signatures;
  nereid_tensorflow::ReadSignatures(bytes, &signatures);
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
