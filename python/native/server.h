// SPDX-License-Identifier: Apache-2.0
// The Python type `Server`: a server of this process. The object is guarded by the GIL; what it
// refers to is thread-safe.
#ifndef NEREID_PYTHON_NATIVE_SERVER_H_
#define NEREID_PYTHON_NATIVE_SERVER_H_

#include <memory>

#include "backends/sdk/python/python_api.h"
#include "python/native/error.h"
#include "python/native/frontends.h"
#include "python/native/life.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {

// A started server. It is ended with the last reference, which no thread of the server has.
class RunningServer {
 public:
  explicit RunningServer(TRITONSERVER_Server* server);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  TRITONSERVER_Server* get() const { return server_; }
  // False in a forked child.
  bool usable() const;
  Frontends* frontends() { return &frontends_; }

 private:
  TRITONSERVER_Server* const server_;
  const uint32_t generation_;
  Frontends frontends_;
};
using ServerRef = std::shared_ptr<RunningServer>;

// The server of an object, which must be a Server; null with an exception if it cannot be used.
ServerRef ServerOf(PyObject* self);

// Adds the type to the module. False with an exception.
bool AddServerType(PyObject* module);

// ---- The methods of the type, by topic.
extern PyMethodDef inference_methods[];   // server_infer.cc
extern PyMethodDef report_methods[];      // server_reports.cc
extern PyMethodDef management_methods[];  // server_models.cc

// Options from an iterable of tuples (name, value...); null with an exception.
TRITONSERVER_ServerOptions* MakeOptions(PyObject* settings);

// Runs `ask`, which returns a TRITONSERVER_Error*, without the GIL. False with an exception.
template <typename Ask>
bool Run(const Ask& ask) {
  CError error = nullptr;
  {
    const Released released;
    error = ask();
  }
  if (error != nullptr) Raise(error);
  return error == nullptr;
}

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_SERVER_H_
