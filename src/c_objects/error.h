// The C API's error object and its two-way conversion to absl::Status. Stateless; thread-safe.
#ifndef NEREID_C_OBJECTS_ERROR_H_
#define NEREID_C_OBJECTS_ERROR_H_

#include <absl/status/status.h>

#include "triton/core/tritonserver.h"

namespace nereid {

// Null for OK; otherwise a new error that the receiver deletes with TRITONSERVER_ErrorDelete.
TRITONSERVER_Error* ToCError(const absl::Status& status);
// The status that `error` stands for; OK for null. `error` stays with its owner.
absl::Status FromCError(TRITONSERVER_Error* error);
// The same, and deletes `error`.
absl::Status TakeCError(TRITONSERVER_Error* error);

}  // namespace nereid

#endif  // NEREID_C_OBJECTS_ERROR_H_
