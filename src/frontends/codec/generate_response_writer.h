// SPDX-License-Identifier: Apache-2.0
// Writes an InferResponse as the JSON object of the generate extension: id, model, response
// parameters and outputs side by side, by name. Pure function, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_GENERATE_RESPONSE_WRITER_H_
#define NEREID_FRONTENDS_CODEC_GENERATE_RESPONSE_WRITER_H_

#include <absl/status/status.h>

#include <cstddef>
#include <string>

#include "frontends/codec/non_finite.h"
#include "infer/response.h"

namespace nereid {

// Estimate of the size of the text; its memory is charged before it is written. REQUIRES:
// response.status().ok()
size_t EstimateGenerateSize(const InferResponse& response);

// Appends the object with its keys in alphabetical order. A tensor of one element is written as a
// scalar, any other as a flat array. Errors of AppendJsonOutput and WriteJsonParameter; the
// appended text is then unspecified. REQUIRES: response.status().ok(); buffers in CPU memory.
absl::Status AppendGenerateResponse(const InferResponse& response, NonFinite non_finite,
                                    std::string* out);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_GENERATE_RESPONSE_WRITER_H_
