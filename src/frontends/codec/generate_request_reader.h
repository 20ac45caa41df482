// SPDX-License-Identifier: Apache-2.0
// Reads the body of a generate request into an InferRequest. The body is a JSON object; members
// named like inputs of the model are inputs, the others are request parameters. Pure function,
// thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_GENERATE_REQUEST_READER_H_
#define NEREID_FRONTENDS_CODEC_GENERATE_REQUEST_READER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "frontends/codec/v2_document.h"
#include "infer/infer_request.h"

namespace nereid {

// Fills `request` (fresh, for a model), and `buffers` with the memory that must stay alive for it.
// Sets `*non_finite` if the body chooses. INVALID_ARGUMENT for a mistake of the client; `request`
// is then incomplete and must be discarded.
//
// The member `parameters` is an object whose members are read like those of the body itself. `id`
// is the id of the request, and also an input or a parameter.
//
// REQUIRES: `json` is followed by kJsonPadding readable bytes, unless it is empty.
absl::Status ReadGenerateRequest(absl::string_view json, const RequestLimits& limits,
                                 InferRequest* request, RequestBuffers* buffers,
                                 NonFinite* non_finite);

// ---- Its two readers, which have to agree on every body.

// Reads the usual body in one pass into `document` and `buffers`, both initially empty: its id,
// parameters and inputs. False if this reader cannot decide (a mistake, or anything unusual, such
// as an input that is there twice); the content of both is then unspecified.
bool ReadGenerateFast(absl::string_view json, const RequestLimits& limits,
                      const CompiledModel& model, RequestBuffers* buffers, V2Document* document);
// Reads any body, and says what is wrong with it.
absl::Status ReadGenerateCarefully(absl::string_view json, const RequestLimits& limits,
                                   InferRequest* request, RequestBuffers* buffers,
                                   NonFinite* non_finite);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_GENERATE_REQUEST_READER_H_
