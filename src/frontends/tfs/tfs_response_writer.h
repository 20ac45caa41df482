// SPDX-License-Identifier: Apache-2.0
// Writes the JSON answers to predict, classify and regress requests of TensorFlow Serving's API.
// Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_RESPONSE_WRITER_H_
#define NEREID_FRONTENDS_TFS_TFS_RESPONSE_WRITER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <string>

#include "frontends/codec/non_finite.h"
#include "frontends/tfs/tfs_request_reader.h"
#include "infer/response.h"

namespace nereid {

// Estimate of the bytes that AppendTfsResponse will append, however many of them are brackets.
size_t EstimateTfsSize(const InferResponse& response, const TfsCall& call);

// Appends the answer to `call`, for whose model `response` is. INTERNAL for outputs that do not fit
// the signature, INVALID_ARGUMENT for values that have no form in JSON. After an error the appended
// text is unspecified.
absl::Status AppendTfsResponse(const InferResponse& response, const TfsCall& call,
                               NonFinite non_finite, std::string* out);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_RESPONSE_WRITER_H_
