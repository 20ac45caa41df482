// SPDX-License-Identifier: Apache-2.0
// Guard: the boundary between backend code, which may throw (the standard library and some runtimes
// do), and the C functions called by the server, which must not throw. Stateless, thread-safe.
#ifndef NEREID_BACKENDS_SDK_BOUNDARY_H_
#define NEREID_BACKENDS_SDK_BOUNDARY_H_

#include <exception>
#include <new>

#include "backends/sdk/error.h"

namespace nereid_backend {

// Runs `body` (returns Error) and turns an exception into an Error that names `where`.
template <typename Body>
Error Guarded(const char* where, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, "out of memory");
  } catch (const std::exception& e) {
    return Error(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, e.what()));
  } catch (...) {
    return Error(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, where));
  }
}

// The same for the outermost C function: `return Guard("ModelInitialize", [&]() -> Error {...});`
template <typename Body>
TRITONSERVER_Error* Guard(const char* where, Body&& body) noexcept {
  return Guarded(where, static_cast<Body&&>(body)).release();
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_BOUNDARY_H_
