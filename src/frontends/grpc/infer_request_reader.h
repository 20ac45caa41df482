// SPDX-License-Identifier: Apache-2.0
// Turns a received ModelInferRequest into the core's InferRequest. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_INFER_REQUEST_READER_H_
#define NEREID_FRONTENDS_GRPC_INFER_REQUEST_READER_H_

#include <absl/status/status.h>

#include <cstdint>

#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/grpc/plain_request.h"
#include "frontends/grpc/proto_reader.h"
#include "grpc_service.pb.h"
#include "infer/infer_request.h"

namespace nereid {

// A received message: `message` is `split.header` as parsed by protobuf. The inputs become views
// into both, so both must live, unchanged, until the request is released.
struct ReceivedRequest {
  const inference::ModelInferRequest& message;
  const SplitInferRequest& split;
};

// Fills `request` (fresh, for a model), `buffers` with the memory that must stay alive for it, and
// the `formats` of the outputs. INVALID_ARGUMENT for a mistake of the client, NOT_FOUND for a
// shared-memory region; `request` is then incomplete and must be discarded.
absl::Status ReadInferRequest(const ReceivedRequest& received, InferRequest* request,
                              RequestBuffers* buffers, OutputFormats* formats);

// The same for a plain request: it has no parameters and no formats.
absl::Status ReadPlainInferRequest(const PlainRequest& plain, const SplitInferRequest& split,
                                   InferRequest* request, RequestBuffers* buffers);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_INFER_REQUEST_READER_H_
