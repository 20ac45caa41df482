// SPDX-License-Identifier: Apache-2.0
// OutMessage: one message on its way to a client: its own bytes, and output tensors where the
// backend wrote them. Movable; thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_OUT_MESSAGE_H_
#define NEREID_FRONTENDS_GRPC_OUT_MESSAGE_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <memory>
#include <string>

#include "frontends/grpc/proto_writer.h"
#include "frontends/grpc/wire/message_compression.h"
#include "frontends/grpc/wire/message_writer.h"
#include "frontends/transport/http2/stream.h"
#include "infer/response.h"

namespace nereid {

class OutMessage {
 public:
  OutMessage() = default;
  // Copies `bytes`, a serialised message.
  explicit OutMessage(absl::string_view bytes);
  // Pieces of `*response` are sent without a copy: the message then takes over the response and
  // keeps it until it is sent. All other pieces are copied.
  OutMessage(absl::Span<const WirePiece> pieces, std::unique_ptr<InferResponse>* response);

  // Bytes of the message, without its prefix.
  uint64_t size() const {
    return size_ < MessagePrefix::kBytes ? 0 : size_ - MessagePrefix::kBytes;
  }
  // Bytes that are the message's own: all but those that lie in a response's outputs.
  uint64_t own_size() const { return own_.size(); }
  // The message in one piece, without its prefix.
  std::string Text() const;
  // Compresses the message if that makes it smaller. Errors of CompressMessage.
  absl::Status Compress(MessageCoding coding, GrpcCompression level);
  // Hands the message over to `stream`. REQUIRES: on the stream's thread.
  void AppendTo(http2::Stream* stream) const;
  // The same without a copy of the message's own bytes; the message is of no
  // use afterwards.
  void MoveTo(http2::Stream* stream);

 private:
  // Bytes of the response, behind the first `own_end` of the message's own bytes.
  struct SharedPiece {
    size_t own_end;
    absl::string_view bytes;
  };
  void WritePrefix(bool compressed);

  std::string own_;  // begins with the prefix
  absl::InlinedVector<SharedPiece, 2> shared_;
  std::shared_ptr<const void> response_;
  uint64_t size_ = 0;  // with the prefix
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_OUT_MESSAGE_H_
