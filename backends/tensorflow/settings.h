// SPDX-License-Identifier: Apache-2.0
// BackendSettings: what all TensorFlow models of the process share: the settings of the command
// line, the CPU budget and the path of the worker's program. Made in TRITONBACKEND_Initialize,
// destroyed in TRITONBACKEND_Finalize. Immutable.
#ifndef NEREID_BACKENDS_TENSORFLOW_SETTINGS_H_
#define NEREID_BACKENDS_TENSORFLOW_SETTINGS_H_

#include <memory>
#include <string>

#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// --backend-config=tensorflow,<key>=<value>
struct BackendSettings {
  bool soft_placement = true;          // allow-soft-placement
  int64_t default_max_batch_size = 4;  // default-max-batch-size
  // load-timeout-seconds: a worker that takes longer to load its model is ended. Loading takes
  // minutes at most.
  int64_t load_timeout_seconds = 600;
  CpuBudget budget;
  std::string worker;  // the executable

  static Result<BackendSettings> FromJson(const Json& settings);
  // As above, with budget and worker. NOT_FOUND if the worker is missing.
  static Result<std::unique_ptr<BackendSettings>> Create(TRITONBACKEND_Backend* backend);
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TENSORFLOW_SETTINGS_H_
