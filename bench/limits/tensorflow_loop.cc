// SPDX-License-Identifier: Apache-2.0
// TensorFlow in a loop, on a SavedModel; framework_loop.h describes the arguments. INPUT and OUTPUT
// are names in the model's signature, which is the default one or the only one.
#include <tensorflow/c/c_api.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/tensorflow/worker/meta_graph.h"
#include "bench/limits/framework_loop.h"

namespace {

// intra_op_parallelism_threads 1; inter_op_parallelism_threads -1: operators run in this thread.
constexpr unsigned char kOneThread[] = {0x10, 0x01, 0x28, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0x01};

[[noreturn]] void Fail(const std::string& text) { throw std::runtime_error(text); }

void Check(const TF_Status* status) {
  if (TF_GetCode(status) != TF_OK) Fail(TF_Message(status));
}

TF_Tensor* Values(const std::vector<int64_t>& shape) {
  const std::vector<float> values = nereid_bench::LoopValues(shape);
  const size_t size = values.size() * sizeof(float);
  TF_Tensor* const tensor =
      TF_AllocateTensor(TF_FLOAT, shape.data(), static_cast<int>(shape.size()), size);
  std::memcpy(TF_TensorData(tensor), values.data(), size);
  return tensor;
}

TF_Output Find(TF_Graph* graph, const std::vector<nereid_tensorflow::SignatureTensor>& tensors,
               const char* name) {
  for (const nereid_tensorflow::SignatureTensor& tensor : tensors) {
    if (tensor.description.name != name) continue;
    TF_Output found{nullptr, 0};
    std::string operation;
    nereid_tensorflow::ParseTensorName(tensor.graph_tensor, &operation, &found.index);
    found.oper = TF_GraphOperationByName(graph, operation.c_str());
    return found;
  }
  Fail(std::string("the model has no tensor ") + name);
}

struct Model {
  TF_Session* session = nullptr;
  TF_Output input{};
  TF_Output output{};
};

Model Load(const nereid_bench::LoopOptions& loop, TF_Status* status) {
  Model model;
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_SetConfig(options, kOneThread, sizeof(kOneThread), status);
  Check(status);
  TF_Graph* const graph = TF_NewGraph();
  TF_Buffer* const meta_graph = TF_NewBuffer();
  const char* const tag = "serve";
  model.session = TF_LoadSessionFromSavedModel(options, nullptr, loop.model, &tag, 1, graph,
                                               meta_graph, status);
  Check(status);
  std::vector<nereid_tensorflow::SignatureDef> signatures;
  nereid_tensorflow::ReadSignatures(
      {static_cast<const char*>(meta_graph->data), meta_graph->length}, &signatures);
  const nereid_tensorflow::SignatureDef* signature = nullptr;
  const nereid_tensorflow::Status chosen =
      nereid_tensorflow::ChooseSignature(signatures, "", &signature);
  if (!chosen.ok()) Fail(chosen.message);
  model.input = Find(graph, signature->inputs, loop.input);
  model.output = Find(graph, signature->outputs, loop.output);
  return model;
}

void Loop(const nereid_bench::LoopOptions& options) {
  TF_Status* const status = TF_NewStatus();
  const Model model = Load(options, status);
  std::vector<TF_Tensor*> inputs;
  for (const std::vector<int64_t>& shape : options.shapes) inputs.push_back(Values(shape));
  TF_Tensor* output = nullptr;
  nereid_bench::Measure(
      options,
      [&](size_t shape) {
        TF_SessionRun(model.session, nullptr, &model.input, &inputs[shape], 1, &model.output,
                      &output, 1, nullptr, 0, nullptr, status);
        Check(status);
      },
      [&] { TF_DeleteTensor(output); });
}

}  // namespace

int main(int argc, char** argv) { return nereid_bench::LoopMain(argc, argv, &Loop); }
