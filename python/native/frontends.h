// SPDX-License-Identifier: Apache-2.0
// Frontends: the ports of a server of this process, which the library nereid_frontends opens. It is
// loaded when the first port is asked for. Thread-safe.
#ifndef NEREID_PYTHON_NATIVE_FRONTENDS_H_
#define NEREID_PYTHON_NATIVE_FRONTENDS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "nereid/frontends.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {

class Frontends {
 public:
  // All block, so they are called without the GIL. Null, or an error.
  TRITONSERVER_Error* Start(TRITONSERVER_Server* server, const std::vector<std::string>& options);
  TRITONSERVER_Error* Stop();
  // In a forked child: forgets them.
  void Forget() { frontends_ = nullptr; }
  // NOT_FOUND if there is no such port.
  TRITONSERVER_Error* Port(const char* protocol, uint16_t* port);

 private:
  std::mutex mu_;
  // Guarded by mu_.
  NEREID_Frontends* frontends_ = nullptr;
  bool hang_ = false;  // they did not stop, and still use the server
};

// The names of all options, one a line; an error if the library cannot be loaded.
TRITONSERVER_Error* FrontendOptions(const char** names);

// The folder of libtritonserver.so; "" if it cannot be found out.
std::string LibraryFolder();

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_FRONTENDS_H_
