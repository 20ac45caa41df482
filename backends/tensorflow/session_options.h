// SPDX-License-Identifier: Apache-2.0
// The options of a model's session, from its configuration. Values.
#ifndef NEREID_BACKENDS_TENSORFLOW_SESSION_OPTIONS_H_
#define NEREID_BACKENDS_TENSORFLOW_SESSION_OPTIONS_H_

#include <cstdint>
#include <string>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"
#include "backends/tensorflow/settings.h"

namespace nereid_backend {

struct SessionOptions {
  int64_t intra_op_threads = 0;  // 0: as many as the CPU budget allows
  int64_t inter_op_threads = 0;  // 0: the thread that runs the model does all the work
  int64_t jit_level = 0;         // -1 off, 1, 2: TensorFlow's ON_1, ON_2; 0: its default
  std::string graph_tag = "serve";
  std::string signature;      // empty: serving_default, or the only one
  std::string init_ops_file;  // a name; empty: none

  // INVALID_ARG for values that make no sense.
  static Result<SessionOptions> FromConfig(const ModelConfig& config);

  // Whether the operators of a run are computed one after the other, as they are in the file.
  bool one_thread() const { return inter_op_threads == 0 && jit_level <= 0; }
  // TensorFlow's ConfigProto in wire format.
  std::string ConfigProto(const BackendSettings& settings) const;
  // One sentence for the log: says which threads will run the model.
  std::string ThreadPlan(const CpuBudget& budget) const;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_SESSION_OPTIONS_H_
