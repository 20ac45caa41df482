// SPDX-License-Identifier: Apache-2.0
// MessageDecompression: turns a message that is marked as compressed into the plain one. The output
// is written straight to its final place and is charged as it grows. Can be paused, and resumed on
// any thread. Thread-compatible; owned by its call.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_DECOMPRESSION_H_
#define NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_DECOMPRESSION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.h"
#include "frontends/codec/body_decompression.h"
#include "frontends/codec/received_body.h"
#include "frontends/grpc/wire/message_compression.h"
#include "frontends/grpc/wire/message_reader.h"

namespace nereid {

class MessageDecompression {
 public:
  // The plain message obeys `limit`, as if it had come uncompressed, and is paid for by `budget`,
  // which must outlive it.
  MessageDecompression(MessageCoding coding, std::shared_ptr<ReceivedBody> compressed,
                       const MessageLimit& limit, Budget* budget);

  // Continues until all output is written, and returns true; or until filled() is at least
  // `pause_at`, which may be so before the call, and returns false. Errors, which are final:
  // INTERNAL if the call has no coding or the message is damaged; RESOURCE_EXHAUSTED if the plain
  // message is too long; UNAVAILABLE without memory.
  absl::StatusOr<bool> Run(uint64_t pause_at);
  // Bytes of output so far.
  uint64_t filled() const { return body_.has_value() ? body_->filled() : 0; }
  // The plain message. Releases the compressed one. REQUIRES: Run has returned true.
  std::shared_ptr<ReceivedBody> Finish();

 private:
  const MessageCoding coding_;
  const MessageLimit limit_;
  std::shared_ptr<ReceivedBody> empty_;  // a message without bytes, which is its own plain one
  std::optional<BodyDecompression> body_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_DECOMPRESSION_H_
