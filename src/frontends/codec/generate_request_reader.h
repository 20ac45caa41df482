// Reads the body of a generate request into an InferRequest: a JSON object whose members are inputs
// of the model where they are named as such, and otherwise request parameters. Pure function,
// thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_GENERATE_REQUEST_READER_H_
#define NEREID_FRONTENDS_CODEC_GENERATE_REQUEST_READER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "infer/infer_request.h"

namespace nereid {

// Fills `request` (fresh, for a model) and what `buffers` has to keep alive. INVALID_ARGUMENT for a
// mistake of the client; `request` is then half filled and of no use.
//
// The member `parameters` is an object whose members are read like those of the body itself. `id`
// names the request, and is an input or a parameter as well.
absl::Status ReadGenerateRequest(absl::string_view json, const RequestLimits& limits,
                                 InferRequest* request, RequestBuffers* buffers);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_GENERATE_REQUEST_READER_H_
