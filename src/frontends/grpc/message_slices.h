// Turns the pieces of a message into what gRPC sends. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_MESSAGE_SLICES_H_
#define NEREID_FRONTENDS_GRPC_MESSAGE_SLICES_H_

#include <absl/types/span.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>

#include "frontends/grpc/proto_writer.h"
#include "infer/response.h"

namespace nereid {

// Pieces of `*response` are sent from where they lie, and then the buffer takes the response over,
// to keep it until it is sent. The others are copied.
grpc::ByteBuffer MakeByteBuffer(absl::Span<const WirePiece> pieces,
                                std::unique_ptr<InferResponse>* response);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_MESSAGE_SLICES_H_
