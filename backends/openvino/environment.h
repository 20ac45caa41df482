// SPDX-License-Identifier: Apache-2.0
// Environment: what all OpenVINO models of the process share: the runtime with its CPU plugin, and
// the backend's settings. Made in TRITONBACKEND_Initialize, destroyed in TRITONBACKEND_Finalize.
// Immutable; the runtime's own object is thread-safe.
#ifndef NEREID_BACKENDS_OPENVINO_ENVIRONMENT_H_
#define NEREID_BACKENDS_OPENVINO_ENVIRONMENT_H_

#include <memory>
#include <mutex>
#include <openvino/runtime/core.hpp>
#include <string>

#include "backends/sdk/cpu_budget.h"
#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "backends/sdk/run_watch.h"

namespace nereid_backend {

// --backend-config=openvino,<key>=<value>
struct BackendSettings {
  int64_t default_max_batch_size = 4;  // default-max-batch-size
  std::string cache_dir;               // cache-dir: of models that name none; "": no cache

  static Result<BackendSettings> FromJson(const Json& settings);
};

class Environment {
 public:
  static Result<std::unique_ptr<Environment>> Create(TRITONBACKEND_Backend* backend);
  // Loads the CPU plugin. UNAVAILABLE with the reason if that fails.
  static Result<std::unique_ptr<Environment>> Create(const Json& settings);

  // A runtime configured like the shared one, for a model that changes its settings. May throw
  // ov::Exception.
  static std::shared_ptr<ov::Core> NewCore();

  const std::shared_ptr<ov::Core>& core() const { return core_; }
  const BackendSettings& settings() const { return settings_; }
  const CpuBudget& budget() const { return budget_; }
  // Held while a compiled model or an infer request of any model is created or destroyed, because
  // the runtime (2026.4) occasionally crashes if two threads do so at the same time. Not needed for
  // runs.
  std::mutex& setup_mutex() const { return setup_mutex_; }
  // Stops runs whose results nobody waits for any more.
  RunWatch* watch() const { return &watch_; }

 private:
  Environment(BackendSettings settings, const CpuBudget& budget)
      : settings_(std::move(settings)), budget_(budget) {}

  const BackendSettings settings_;
  const CpuBudget budget_;
  std::shared_ptr<ov::Core> core_;
  mutable std::mutex setup_mutex_;
  mutable RunWatch watch_;  // thread-safe
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_ENVIRONMENT_H_
