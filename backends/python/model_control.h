// ModelControl: loads and unloads models for a model's process. Loading takes time, so each call
// has its own thread; the answer goes into the slot of the call. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_MODEL_CONTROL_H_
#define NEREID_BACKENDS_PYTHON_MODEL_CONTROL_H_

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

class ModelControl {
 public:
  using Files = std::vector<std::pair<std::string, std::string>>;
  // Called once, by another thread.
  using Done = std::function<void(const Error&)>;

  explicit ModelControl(TRITONSERVER_Server* server) : server_(server) {}
  // Waits for calls in progress.
  ~ModelControl();
  ModelControl(const ModelControl&) = delete;
  ModelControl& operator=(const ModelControl&) = delete;

  // `config`: a configuration as JSON, or empty. Files: "file:<path>" and content.
  void Load(std::string model, std::string config, Files files, Done done);
  void Unload(std::string model, bool dependents, Done done);
  bool Idle();
  // Does not wait. `version`: a number, or empty for the newest.
  Result<bool> IsReady(const std::string& model, const std::string& version) const;

 private:
  struct Job {
    std::thread thread;
    bool over = false;  // guarded by mu_
  };
  void Start(std::function<Error()> work, Done done);

  TRITONSERVER_Server* const server_;
  std::mutex mu_;
  std::list<Job> jobs_;  // guarded by mu_, except for what belongs to the threads
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_MODEL_CONTROL_H_
