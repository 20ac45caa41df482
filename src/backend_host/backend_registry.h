// SPDX-License-Identifier: Apache-2.0
// BackendRegistry: finds and loads backends, each once. Thread-safe. Owned by the server; keeps
// every loaded backend until it is destroyed.
#ifndef NEREID_BACKEND_HOST_BACKEND_REGISTRY_H_
#define NEREID_BACKEND_HOST_BACKEND_REGISTRY_H_

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend_host/backend_library.h"
#include "base/mutex.h"
#include "config/parsed_config.h"

namespace nereid {

class BackendRegistry {
 public:
  struct Options {
    std::string directory;  // DIRECTORY/NAME/libtriton_NAME.so, or DIRECTORY/NAME/model.py
    std::map<std::string, std::map<std::string, std::string>> settings;
    bool auto_complete_config = true;
    LoadedBackend::Watch watch = nullptr;      // for every backend that is loaded
    const Devices* devices = Devices::None();  // outlive the registry
  };
  explicit BackendRegistry(Options options);

  // The backend that `config` names, found by LocateBackend. Blocks while the backend is being
  // loaded.
  absl::StatusOr<std::shared_ptr<LoadedBackend>> Get(const ParsedConfig& config,
                                                     const std::string& model_dir, int64_t version)
      ABSL_LOCKS_EXCLUDED(mu_);
  // The backends loaded so far, ordered by name.
  std::vector<std::shared_ptr<const LoadedBackend>> Loaded() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // One library or Python-based backend. The first caller loads it without holding the mutex;
  // others wait for that.
  struct Slot {
    Mutex mu;
    CondVar loaded;
    bool loading ABSL_GUARDED_BY(mu) = false;
    std::shared_ptr<LoadedBackend> backend ABSL_GUARDED_BY(mu);
  };

  std::string ConfigJson(const std::string& backend) const;

  const Options options_;
  Mutex mu_;
  std::map<std::string, std::shared_ptr<Slot>> by_code_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_BACKEND_REGISTRY_H_
