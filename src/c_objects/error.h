// The C API's error object and its two-way conversion to absl::Status. Stateless; thread-safe.
#ifndef NEREID_C_OBJECTS_ERROR_H_
#define NEREID_C_OBJECTS_ERROR_H_

#include <absl/status/status.h>

#include "triton/core/tritonserver.h"

namespace nereid {

// Null for OK; otherwise a new error that the receiver deletes with TRITONSERVER_ErrorDelete. When
// there is no memory for it, one that is always there: UNAVAILABLE "out of memory".
TRITONSERVER_Error* ToCError(const absl::Status& status) noexcept;
// What an exported function returns for the exception that is being handled. No exception leaves
// one: it is written `TRITONSERVER_Error* F(...) try {...} catch (...) { return CaughtError(); }`
// (tools/check_c_boundary.py). UNAVAILABLE for want of memory or of another resource of the
// system, INTERNAL for anything else. REQUIRES: called in a handler.
TRITONSERVER_Error* CaughtError() noexcept;
// The status that `error` stands for; OK for null. `error` stays with its owner.
absl::Status FromCError(TRITONSERVER_Error* error);
// The same, and deletes `error`, also when it throws std::bad_alloc.
absl::Status TakeCError(TRITONSERVER_Error* error);

}  // namespace nereid

#endif  // NEREID_C_OBJECTS_ERROR_H_
