// Calls into a backend: no exception comes out, and an error names the backend. Also keeps, per
// thread, which backend and model is being called, for the message of a crash.
#ifndef NEREID_BACKEND_HOST_CALL_H_
#define NEREID_BACKEND_HOST_CALL_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <exception>
#include <string>

#include "base/crash_context.h"
#include "c_objects/error.h"

namespace nereid {

// Runs `call`, which returns TRITONSERVER_Error*. The backend's own message is passed on as it is;
// an exception becomes INTERNAL with the names of backend, model and `what`.
template <typename Call>
absl::Status CallBackend(const std::string& backend, const std::string& model, const char* what,
                         const Call& call) {
  const CrashContext context(backend.c_str(), model.c_str(), what);
  try {
    return TakeCError(call());
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("backend '", backend, "' threw an exception in ", what,
                                            " of model '", model, "': ", e.what()));
  } catch (...) {
    return absl::InternalError(absl::StrCat("backend '", backend,
                                            "' threw an unknown exception in ", what,
                                            " of model '", model, "'"));
  }
}

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_CALL_H_
