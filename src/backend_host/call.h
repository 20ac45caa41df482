// SPDX-License-Identifier: Apache-2.0
// Calls into a backend. No exception gets out, and an error names the backend. Also records per
// thread which backend and model is being called, for the message of a crash.
#ifndef NEREID_BACKEND_HOST_CALL_H_
#define NEREID_BACKEND_HOST_CALL_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <exception>
#include <new>
#include <string>

#include "base/caught.h"
#include "base/crash_context.h"
#include "c_objects/error.h"

namespace nereid {

// INTERNAL, for a backend that threw an exception with `text`; without a text if memory is
// exhausted.
inline absl::Status BackendThrew(const std::string& backend, const std::string& model,
                                 const char* what, const char* kind, const char* text) noexcept
    try {
  return absl::InternalError(absl::StrCat("backend '", backend, "' threw an ", kind, " in ", what,
                                          " of model '", model, "'", text == nullptr ? "" : ": ",
                                          text == nullptr ? "" : text));
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

// Runs `call`, which returns TRITONSERVER_Error*. The backend's own error is passed on unchanged;
// an exception becomes INTERNAL with the names of backend, model and `what`.
template <typename Call>
absl::Status CallBackend(const std::string& backend, const std::string& model, const char* what,
                         const Call& call) noexcept {
  const CrashContext context(backend.c_str(), model.c_str(), what);
  try {
    return TakeCError(call());
  } catch (const std::exception& e) {
    return BackendThrew(backend, model, what, "exception", e.what());
  } catch (...) {
    return BackendThrew(backend, model, what, "unknown exception", nullptr);
  }
}

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_CALL_H_
