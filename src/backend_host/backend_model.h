// SPDX-License-Identifier: Apache-2.0
// BackendModel: one model version as its backend sees it; the object behind a TRITONBACKEND_Model*.
// Created and initialised by a loading thread; constant from then on except where noted.
#ifndef NEREID_BACKEND_HOST_BACKEND_MODEL_H_
#define NEREID_BACKEND_HOST_BACKEND_MODEL_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_library.h"
#include "base/mutex.h"
#include "c_objects/buffer_attributes.h"
#include "config/parsed_config.h"
#include "scheduling/scheduler.h"

namespace nereid {

class ServingModel;

struct BackendModelOptions {
  std::string repository_dir;  // the model's directory
  int64_t version = 0;
  bool auto_complete_config = true;
  void* server = nullptr;  // TRITONSERVER_Server*
};

class BackendModel {
 public:
  BackendModel(std::shared_ptr<LoadedBackend> backend, ParsedConfig config,
               BackendModelOptions options);
  ~BackendModel() { FinalizeOnce(); }
  BackendModel(const BackendModel&) = delete;
  BackendModel& operator=(const BackendModel&) = delete;

  // Calls TRITONBACKEND_ModelInitialize, which may complete the configuration.
  absl::Status Initialize();
  // Calls TRITONBACKEND_ModelFinalize once, and only if Initialize succeeded.
  void FinalizeOnce();
  // The model's own batching functions, null if it has none. `compiled` belongs to this model.
  absl::StatusOr<std::unique_ptr<BatchStrategy>> MakeBatchStrategy(const CompiledModel& compiled);

  const std::shared_ptr<LoadedBackend>& backend() const { return backend_; }
  const ParsedConfig& config() const { return config_; }
  const BackendModelOptions& options() const { return options_; }
  const std::string& name() const { return config_.name(); }
  // TRITONBACKEND_ModelSetConfig; allowed only while Initialize runs.
  absl::Status SetConfig(uint32_t config_version, const std::string& json);

  // Lets threads other than its instances' execute the model while it is short. Allowed only while
  // Initialize runs.
  absl::Status SetExecutesBriefly();
  bool executes_briefly() const {
    return executes_briefly_ || backend_->attributes().executes_briefly;
  }

  // The serving object of this model; set before any instance is made.
  void set_serving_model(ServingModel* model) { serving_model_ = model; }
  ServingModel* serving_model() const { return serving_model_; }

  // Instances that take requests and can execute them: NEREID_ModelInstanceSetAvailable. Any
  // thread.
  int available_instances() const { return available_.load(std::memory_order_acquire); }
  void CountAvailable(int change) { available_.fetch_add(change, std::memory_order_acq_rel); }
  // The number has changed. To be called without locks.
  void TellAvailability();

  // Replaces the memory usage that the model reported. Thread-safe.
  void ReportMemory(std::vector<TRITONSERVER_BufferAttributes> usage) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<TRITONSERVER_BufferAttributes> memory() const ABSL_LOCKS_EXCLUDED(mu_);

  void* state = nullptr;  // the backend's own

 private:
  const std::shared_ptr<LoadedBackend> backend_;
  ParsedConfig config_;
  const BackendModelOptions options_;
  ServingModel* serving_model_ = nullptr;
  bool initializing_ = false;
  bool initialized_ = false;
  bool executes_briefly_ = false;
  std::atomic<int> available_{0};
  std::unique_ptr<PluginLibrary> batching_library_;
  mutable Mutex mu_;
  std::vector<TRITONSERVER_BufferAttributes> memory_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_BACKEND_MODEL_H_
