// SPDX-License-Identifier: Apache-2.0
// BackendLibrary: a backend's shared object and its entry points. LoadedBackend: the object behind
// a TRITONBACKEND_Backend*. Both live until the server ends.
#ifndef NEREID_BACKEND_HOST_BACKEND_LIBRARY_H_
#define NEREID_BACKEND_HOST_BACKEND_LIBRARY_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_location.h"
#include "c_objects/message.h"
#include "config/parsed_config.h"
#include "device/devices.h"
#include "plugin/plugin_library.h"
#include "triton/core/tritonbackend.h"

namespace nereid {

// The functions a backend exports; null for those it does not export. Immutable.
struct BackendEntryPoints {
  decltype(&TRITONBACKEND_Initialize) initialize = nullptr;
  decltype(&TRITONBACKEND_Finalize) finalize = nullptr;
  decltype(&TRITONBACKEND_GetBackendAttribute) get_backend_attribute = nullptr;
  decltype(&TRITONBACKEND_ModelInitialize) model_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelFinalize) model_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceInitialize) instance_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceFinalize) instance_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelInstanceExecute) instance_execute = nullptr;  // always present
  decltype(&TRITONBACKEND_ModelInstanceReady) instance_ready = nullptr;
};

// The custom batching functions, from the backend or from a library of the model. All or none.
struct BatchingEntryPoints {
  decltype(&TRITONBACKEND_ModelBatcherInitialize) batcher_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelBatcherFinalize) batcher_finalize = nullptr;
  decltype(&TRITONBACKEND_ModelBatchInitialize) batch_initialize = nullptr;
  decltype(&TRITONBACKEND_ModelBatchIncludeRequest) batch_include = nullptr;
  decltype(&TRITONBACKEND_ModelBatchFinalize) batch_finalize = nullptr;
};

// CallPlugin for a function of the backend that serves a model; for a function that serves none,
// `model` is empty.
template <typename Call>
absl::Status CallBackend(const std::string& backend, const std::string& model, const char* function,
                         const Call& call) noexcept {
  return CallPlugin("backend", backend, model, function, call);
}

// INVALID_ARGUMENT if `library`, whose file is `path`, has some but not all of the functions; all
// pointers are null if it has none.
absl::StatusOr<BatchingEntryPoints> FindBatchingEntryPoints(const PluginLibrary& library,
                                                            const std::string& path,
                                                            const std::string& model);

// What a backend said about itself in TRITONBACKEND_GetBackendAttribute.
// What a library exports if its backend has no code for GPUs. Unknown to other servers.
inline constexpr char kComputesOnCpusMark[] = "NEREID_BackendComputesOnCpus";

struct BackendAttributes {
  std::vector<PreferredGroup> preferred_groups;
  bool parallel_instance_loading = false;
  // Its executions take no longer than the computation itself, because none waits for anything
  // else. An I/O thread may therefore run short ones.
  bool executes_briefly = false;
  // It accepts inputs in several pieces, which the interface allows but few backends expect.
  bool reads_pieces = false;
  // It has no code for GPUs, so its instances stay on the CPU also where there are GPUs.
  bool computes_on_cpus = false;
};

class LoadedBackend {
 public:
  // Loads the library and initialises the backend. If the library belongs to a model, a copy is
  // loaded, so that overwriting the file does not change running code. Errors name the backend.
  // `watch` (may be null) is called before the first function of the backend, and may put functions
  // of its own in place of those found. `devices` are what it may allocate memory on; they outlive
  // the backend.
  using Watch = void (*)(BackendEntryPoints* entry_points);
  static absl::StatusOr<std::shared_ptr<LoadedBackend>> Load(
      const std::string& name, const BackendLocation& location, const std::string& config_json,
      Watch watch = nullptr, const Devices* devices = Devices::None());
  ~LoadedBackend();

  const std::string& name() const { return library_->name(); }
  const std::string& artifact_dir() const { return location_.artifact_dir; }
  bool python_based() const { return location_.python_based; }
  // Path of the library or, for a Python-based backend, of the Python file that the library runs.
  const std::string& code() const { return code_; }
  const PluginLibrary& library() const { return *library_; }
  const BackendEntryPoints& entry_points() const { return entry_points_; }
  const BackendAttributes& attributes() const { return attributes_; }
  TRITONSERVER_Message* config() { return &config_; }
  const Devices* devices() const { return devices_; }

  // Set by the backend during its initialisation, constant afterwards.
  void* state = nullptr;
  TRITONBACKEND_ExecutionPolicy execution_policy = TRITONBACKEND_EXECUTION_BLOCKING;

 private:
  LoadedBackend(BackendLocation location, std::string config_json,
                std::unique_ptr<PluginLibrary> library, const Devices* devices);
  absl::Status FindEntryPoints();
  absl::Status Initialize();

  const BackendLocation location_;
  const std::string code_;
  TRITONSERVER_Message config_;
  const std::unique_ptr<PluginLibrary> library_;
  const Devices* const devices_;
  BackendEntryPoints entry_points_;
  BackendAttributes attributes_;
  bool initialized_ = false;
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_BACKEND_LIBRARY_H_
