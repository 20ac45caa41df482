// SPDX-License-Identifier: Apache-2.0
// Environment: what all ONNX models of the process share: the runtime's environment with its log
// and one thread pool, and the backend's settings. Made in TRITONBACKEND_Initialize, destroyed in
// TRITONBACKEND_Finalize. Immutable; the runtime's own object is thread-safe.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_ENVIRONMENT_H_
#define NEREID_BACKENDS_ONNXRUNTIME_ENVIRONMENT_H_

#include <onnxruntime_cxx_api.h>

#include <memory>
#include <string>

#include "backends/onnxruntime/openvino_provider.h"
#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "backends/sdk/run_watch.h"

namespace nereid_backend {

// --backend-config=onnxruntime,<key>=<value>
struct BackendSettings {
  bool global_pool = true;       // enable-global-threadpool
  int64_t intra_op_threads = 0;  // intra_op_thread_count; 0: as many as the CPU budget allows
  int64_t inter_op_threads = 1;  // inter_op_thread_count
  bool spinning = false;         // session.intra_op.allow_spinning
  int64_t default_max_batch_size = 4;

  static Result<BackendSettings> FromJson(const Json& settings);
};

class Environment {
 public:
  static Result<std::unique_ptr<Environment>> Create(TRITONBACKEND_Backend* backend);
  // Loads the runtime and makes the environment. `folder`: that of this backend; the folder of the
  // backend openvino, if it is installed, is next to it. NOT_FOUND if there is no runtime,
  // UNSUPPORTED if it is older than the headers used to build this backend.
  static Result<std::unique_ptr<Environment>> Create(const Json& settings,
                                                     const std::string& folder);

  const Ort::Env& ort() const { return env_; }
  const BackendSettings& settings() const { return settings_; }
  const CpuBudget& budget() const { return budget_; }
  // Stops Runs whose results nobody waits for; thread-safe.
  RunWatch* watch() const { return &watch_; }
  OpenVinoProvider* openvino() const { return &openvino_; }
  // Number of threads that work on one Run through the shared pool, including the calling thread.
  int64_t shared_intra_threads() const;

 private:
  Environment(const BackendSettings& settings, const CpuBudget& budget, std::string folder)
      : settings_(settings), budget_(budget), openvino_(std::move(folder)) {}

  const BackendSettings settings_;
  const CpuBudget budget_;
  Ort::Env env_{nullptr};
  mutable RunWatch watch_;
  mutable OpenVinoProvider openvino_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_ENVIRONMENT_H_
