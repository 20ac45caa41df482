// SPDX-License-Identifier: Apache-2.0
// PythonModel: what the instances of one version of a Python model share: its files, how its
// processes are started, and its configuration. Immutable after Create, except for the process that
// completed the configuration, which the first instance takes over.
#ifndef NEREID_BACKENDS_PYTHON_MODEL_H_
#define NEREID_BACKENDS_PYTHON_MODEL_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/python/environment/launch.h"
#include "backends/python/fork_servers.h"
#include "backends/python/metrics.h"
#include "backends/python/output_check.h"
#include "backends/python/python_process.h"
#include "backends/python/suspects.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// The state of a backend's handle: "python", or one that is written in Python.
struct PythonBackend {
  static Result<std::unique_ptr<PythonBackend>> Create(TRITONBACKEND_Backend* backend) {
    NB_ASSIGN_OR_RETURN(PythonSettings settings, PythonSettings::Read(backend));
    return std::make_unique<PythonBackend>(std::move(settings));
  }
  explicit PythonBackend(PythonSettings settings)
      : environments(std::move(settings)), fork_servers(ForkOptions(environments.settings())) {}

  mutable PythonEnvironments environments;
  mutable ForkServers fork_servers;

 private:
  static ForkServers::Options ForkOptions(const PythonSettings& settings) {
    ForkServers::Options options;
    options.forks = settings.fork_server;
    options.keep_ns = static_cast<uint64_t>(settings.fork_server_keep_seconds) * BackOff::kSecond;
    return options;
  }
};

class PythonModel {
 public:
  static Result<std::unique_ptr<PythonModel>> Create(TRITONBACKEND_Model* handle);

  const ModelConfig& config() const { return config_; }
  const PythonSettings& settings() const { return environments_.settings(); }
  const OutputCheck& outputs() const { return *outputs_; }
  Suspects& suspects() const { return suspects_; }
  // A request was refused because it is guilty.
  void CountRefused() const { refusals_.Add(); }
  // Whether every request is a batch of its own: the server neither batches nor knows sequences.
  bool executes_one_by_one() const { return executes_one_by_one_; }

  // Instances come and go: so many more of them exist.
  void CountInstances(int more) const { instances_.fetch_add(more, std::memory_order_relaxed); }
  int instances() const { return instances_.load(std::memory_order_relaxed); }

  // A process that is not initialised yet.
  std::unique_ptr<PythonProcess> TakeProcess() const;
  // The message of the command Initialize, for an instance of this model.
  Result<nereid_python::ValueWriter> InitializeMessage(TRITONBACKEND_ModelInstance* instance) const;

 private:
  PythonModel(PythonEnvironments& environments, ModelConfig config)
      : environments_(environments), config_(std::move(config)) {}

  Error FindFile();
  Error AutoComplete(TRITONBACKEND_Model* handle);
  // Number of threads that the numerical libraries of an instance's process may use.
  int ThreadShare() const;
  PythonProcess::Spec ProcessSpec() const;
  // The part common to AutoComplete and Initialize: the location of the model.
  void WritePlaces(nereid_python::ValueWriter* writer) const;
  static constexpr size_t kPlaces = 5;

  PythonEnvironments& environments_;
  ModelConfig config_;
  std::unique_ptr<OutputCheck> outputs_;  // of the completed configuration
  TRITONSERVER_Server* server_ = nullptr;
  Launch launch_;
  std::shared_ptr<ForkServer> fork_server_;
  std::string version_folder_;
  std::string model_file_;
  std::string module_;                    // "1.model"
  std::string module_root_;               // folder from which the module is imported
  std::vector<std::string> python_path_;  // other folders with modules

  bool executes_one_by_one_ = false;
  mutable std::atomic<int> instances_{0};
  mutable Suspects suspects_{[] { return NowNs(); }};
  mutable RefusalCounter refusals_{config_.name, config_.version};
  mutable std::mutex mu_;
  mutable std::unique_ptr<PythonProcess> spare_;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_MODEL_H_
