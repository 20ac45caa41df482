// Turns a received ModelInferRequest into the core's InferRequest. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_INFER_REQUEST_READER_H_
#define NEREID_FRONTENDS_GRPC_INFER_REQUEST_READER_H_

#include <absl/status/status.h>

#include <cstdint>

#include "frontends/codec/output_formats.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/grpc/proto_reader.h"
#include "grpc_service.pb.h"
#include "infer/infer_request.h"

namespace nereid {

// A received message: `message` is what protobuf read of `split.header`. The inputs become views
// into both, so they live, unchanged, until the request is released.
struct ReceivedRequest {
  const inference::ModelInferRequest& message;
  const SplitInferRequest& split;
};

// Fills `request` (fresh, for a model), what `buffers` has to keep alive and the `formats` of the
// outputs. INVALID_ARGUMENT for a mistake of the client, NOT_FOUND for a shared-memory region;
// `request` is then half filled and of no use.
absl::Status ReadInferRequest(const ReceivedRequest& received, InferRequest* request,
                              RequestBuffers* buffers, OutputFormats* formats);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_INFER_REQUEST_READER_H_
