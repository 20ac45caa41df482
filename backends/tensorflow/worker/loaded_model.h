// SPDX-License-Identifier: Apache-2.0
// LoadedModel: a SavedModel or GraphDef in a session of TensorFlow. Immutable after Load;
// thread-safe: the session runs in any number of threads at a time. Never destroyed before the
// process ends.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_LOADED_MODEL_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_LOADED_MODEL_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker/meta_graph.h"
#include "backends/tensorflow/worker/tf_handles.h"

namespace nereid_tensorflow {

// When TensorFlow has computed, by CLOCK_MONOTONIC; 0: not at all.
struct ComputeTimes {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

class LoadedModel {
 public:
  // `reply` contains the status, too. Null if that is an error.
  static std::unique_ptr<LoadedModel> Load(const LoadRequest& request, LoadReply* reply);

  // Type of input i; an empty TF_Output if there is no such input.
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  TF_DataType input_type(size_t i) const { return TF_OperationOutputType(inputs_[i]); }

  // `inputs[k]` is fed to input `input_indices[k]`; `outputs` receive the outputs of
  // `output_indices`. `times` cover TensorFlow's part alone. REQUIRES: all indices are below the
  // counts.
  Status Run(const std::vector<uint32_t>& input_indices, const std::vector<TfTensor>& inputs,
             const std::vector<uint32_t>& output_indices, std::vector<TfTensor>* outputs,
             ComputeTimes* times) const;

 private:
  LoadedModel() = default;
  Status LoadSavedModel(const LoadRequest& request, LoadReply* reply);
  Status LoadGraphDef(const LoadRequest& request, LoadReply* reply);
  void FindPlaceholders(LoadReply* reply);
  Status FindSignatureTensor(const SignatureTensor& tensor, std::vector<TF_Output>* found) const;
  TensorDescription Describe(const std::string& name, TF_Output output) const;
  Status RunInitOps(const std::vector<std::string>& names) const;

  TfGraph graph_;
  TF_Session* session_ = nullptr;
  std::vector<TF_Output> inputs_;
  std::vector<TF_Output> outputs_;
};

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_LOADED_MODEL_H_
