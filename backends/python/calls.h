// Calls: answers the questions of a model's process and receives what it reports. Owned by the
// thread that listens to the process; other threads answer calls that take time.
#ifndef NEREID_BACKENDS_PYTHON_CALLS_H_
#define NEREID_BACKENDS_PYTHON_CALLS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "backends/python/child_requests.h"
#include "backends/python/ipc/control.h"
#include "backends/python/ipc/value.h"
#include "backends/python/metrics.h"
#include "backends/python/model_control.h"
#include "backends/python/open_requests.h"
#include "backends/python/transport.h"

namespace nereid_backend {

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
