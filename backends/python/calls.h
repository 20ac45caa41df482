// SPDX-License-Identifier: Apache-2.0
// Calls: answers the questions of a model's process and receives what it reports. Owned by the
// thread that listens to the process; other threads answer calls that take time.
#ifndef NEREID_BACKENDS_PYTHON_CALLS_H_
#define NEREID_BACKENDS_PYTHON_CALLS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/python/child_requests.h"
#include "backends/python/ipc/control.h"
#include "backends/python/ipc/value.h"
#include "backends/python/metrics.h"
#include "backends/python/open_requests.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// ModelControl: loads and unloads models for a model's process. Loading takes time, so each call
// has its own thread; the answer goes into the slot of the call. Thread-safe.
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

class Calls {
 public:
  Calls(TRITONSERVER_Server* server, std::shared_ptr<Transport> transport);

  // Processes the entries that are in the ring, but at most as many as the ring can hold. True if
  // the process has answered a command and was asked to report that.
  bool Take();
  void CancelAll() { children_.CancelAll(); }
  // Whether nothing begun for the process is still in progress.
  bool Idle() { return children_.Idle() && control_.Idle(); }
  // Both outlive the object. REQUIRES: the process has not been given a request yet.
  void set_instance(OpenRequests* requests, WaitGraph::Node* node) {
    requests_ = requests;
    children_.set_node(node);
    children_.set_parents(requests);
  }

 private:
  void Handle(const nereid_python::Entry& entry);
  void Post(nereid_python::Call call, nereid_python::ValueReader* arguments);
  void Call(nereid_python::Call call, nereid_python::ValueReader* arguments, uint32_t slot);
  void Send(nereid_python::ValueReader* arguments);
  void Log(nereid_python::ValueReader* arguments);
  void LoadModel(nereid_python::ValueReader* arguments, uint32_t slot);
  void NewMetric(nereid_python::ValueReader* arguments, uint32_t slot);
  void ChangeMetric(nereid_python::Call call, nereid_python::ValueReader* arguments, uint32_t slot);

  const std::shared_ptr<Transport> transport_;
  OpenRequests* requests_ = nullptr;
  ModelMetrics metrics_;
  ModelControl control_;
  ChildRequests children_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_CALLS_H_
