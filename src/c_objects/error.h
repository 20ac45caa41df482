// SPDX-License-Identifier: Apache-2.0
// The C API's error object and its two-way conversion to absl::Status. Stateless; thread-safe.
#ifndef NEREID_C_OBJECTS_ERROR_H_
#define NEREID_C_OBJECTS_ERROR_H_

#include <absl/status/status.h>

#include "triton/core/tritonserver.h"

namespace nereid {

// Null for OK, otherwise a new error that the receiver deletes with TRITONSERVER_ErrorDelete. If
// there is no memory for a new one, returns a preallocated error: UNAVAILABLE "out of memory".
TRITONSERVER_Error* ToCError(const absl::Status& status) noexcept;
// The return value of an exported function for the exception being handled. No exception may leave
// an exported function, so each is written `TRITONSERVER_Error* F(...) try {...} catch (...) {
// return CaughtError(); }` (checked by tools/check_c_boundary.py). UNAVAILABLE if memory or another
// system resource is exhausted, INTERNAL for anything else. REQUIRES: called in a handler.
TRITONSERVER_Error* CaughtError() noexcept;
// The status that `error` represents; OK for null. The caller keeps ownership of `error`.
absl::Status FromCError(TRITONSERVER_Error* error);
// As FromCError, but also deletes `error`, even if it throws std::bad_alloc.
absl::Status TakeCError(TRITONSERVER_Error* error);

}  // namespace nereid

#endif  // NEREID_C_OBJECTS_ERROR_H_
