// SPDX-License-Identifier: Apache-2.0
// Reads UBJSON (ubjson.org, draft 12), as XGBoost writes it. Pure.
#ifndef NEREID_BACKENDS_FIL_UBJSON_H_
#define NEREID_BACKENDS_FIL_UBJSON_H_

#include <string_view>

#include "backends/sdk/document_events.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// Reports the one value that is all of `bytes`. INVALID_ARG with the offset if it is not one, if it
// is nested more than 64 deep, or if `events` ends the reading.
Error ReadUbjson(std::string_view bytes, DocumentEvents* events);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_UBJSON_H_
