// SPDX-License-Identifier: Apache-2.0
// OutputCheck: whether the outputs that a model sends are what its configuration says. Clients get
// them as they are, as from Triton; the log names each output that differs, once.
// Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_OUTPUT_CHECK_H_
#define NEREID_BACKENDS_PYTHON_OUTPUT_CHECK_H_

#include <atomic>
#include <string>
#include <vector>

#include "backends/python/response.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

class OutputCheck {
 public:
  explicit OutputCheck(const ModelConfig& config);

  void LookAt(const PythonResponse& response) const;

 private:
  struct Output {
    std::string name;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    Shape dims;  // with that of the batch, -1: any size
  };

  const std::string model_;
  std::vector<Output> outputs_;
  mutable std::vector<std::atomic<bool>> named_;  // in the log; as many as outputs_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_OUTPUT_CHECK_H_
