// Turns the pieces of a message into the slices that gRPC sends. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_MESSAGE_SLICES_H_
#define NEREID_FRONTENDS_GRPC_MESSAGE_SLICES_H_

#include <absl/types/span.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>

#include "frontends/grpc/proto_writer.h"
#include "infer/response.h"

namespace nereid {

// Pieces of `*response` are sent without a copy; the buffer then takes over the response and keeps
// it until it is sent. All other pieces are copied.
grpc::ByteBuffer MakeByteBuffer(absl::Span<const WirePiece> pieces,
                                std::unique_ptr<InferResponse>* response);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_MESSAGE_SLICES_H_
