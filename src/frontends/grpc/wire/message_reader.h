// SPDX-License-Identifier: Apache-2.0
// MessageReader: assembles the messages of one gRPC stream from its bytes, however these are split.
//
// Each message lies in one piece of memory, reserved when its length is known. The byte budget pays
// for it in steps as the bytes arrive, so that a client cannot take memory by announcing a message
// that it does not send. The first step also pays for the request that the message will become
// (infer/request_cost.h): its owner takes these units from the message. Returning the bytes returns
// the others.
//
// The end of a message is on a 64-byte boundary: the last tensor of an inference request usually
// ends there, and so its elements are aligned.
//
// Owned by its stream. Thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_READER_H_
#define NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_READER_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/budget.h"
#include "frontends/codec/received_body.h"
#include "frontends/grpc/wire/message_writer.h"

namespace nereid {

// How long a message of a method may be.
struct MessageLimit {
  uint64_t bytes = 0;
  // For the error. Both outlive the limit; empty: no method is known, no option sets the limit.
  absl::string_view method = {};
  absl::string_view option = {};
};

// RESOURCE_EXHAUSTED, for a message of a `size` beyond the limit. Begins like the error of gRPC's
// own library, which clients know.
absl::Status MessageTooLong(absl::string_view size, const MessageLimit& limit);

struct ReceivedMessageBytes {
  bool compressed = false;
  // Sealed; holds the units that pay for it. Null only if the message is refused and too long to be
  // read all the same.
  std::shared_ptr<ReceivedBody> bytes;
  // Why the message must not be carried out: UNAVAILABLE if the budget or the system has refused it
  // memory. Messages of up to 4 KiB are read all the same, for the error to name the request.
  absl::Status refused;
};

class MessageReader {
 public:
  // Receives each complete message. False: pauses, so that the call returns with the bytes behind
  // the message unread. Must neither call nor destroy the reader.
  using OnMessage = absl::FunctionRef<bool(ReceivedMessageBytes)>;

  // `budget` may be null: then nothing is charged. It must outlive the reader. `holder`, who may be
  // null, is the client.
  MessageReader(Budget* budget, const MessageLimit& limit, std::shared_ptr<Holder> holder = nullptr)
      : budget_(budget), limit_(limit), holder_(std::move(holder)) {}
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;

  // The next bytes of the stream. Errors: INTERNAL if they are not a message; RESOURCE_EXHAUSTED if
  // a message is announced to be longer than the limit, before any memory is taken. Messages that
  // were complete before the error have been passed to `on_message`. After an error, all calls
  // return it and nothing is held. A message that is refused memory is no error: `on_message` hears
  // of it, perhaps long before its last byte, and its remaining bytes are dropped.
  // `*unread`, unless null: how many of the last bytes were not read because of a pause.
  absl::Status Append(absl::string_view bytes, OnMessage on_message, size_t* unread = nullptr);

  // The unfinished message, of which the next bytes lie behind mutable_end(), as many as room();
  // null: they are no such bytes. The next Append need not copy them from there.
  const std::shared_ptr<ReceivedBody>& body() const { return body_; }
  // Whether a message has begun and is not complete. False after an error.
  bool in_message() const { return body_ != nullptr || prefix_bytes_ > 0 || to_drop_ > 0; }
  // Units held for the unfinished message.
  uint64_t held() const { return body_ == nullptr ? 0 : body_->charged(); }

 private:
  // Takes bytes of the prefix from the front of `bytes`; begins the message after the last one.
  absl::Status ReadPrefix(absl::string_view* bytes, OnMessage on_message, bool* go_on);
  // Checks the limit, reserves memory for a message of `length` bytes, and pays for its first step.
  absl::Status BeginMessage(uint64_t length, OnMessage on_message, bool* go_on);
  // Pays for the next step.
  absl::Status GrantStep();
  // Hands over the message if it is complete. If not, sees to it that there is room.
  bool GoOn(OnMessage on_message);
  // The unfinished message, of which `left` bytes are still to come, is refused memory.
  bool Refuse(uint64_t length, uint64_t left, absl::Status error, OnMessage on_message);
  absl::Status Fail(absl::Status error);

  Budget* const budget_;
  const MessageLimit limit_;
  const std::shared_ptr<Holder> holder_;
  absl::Status error_;
  size_t prefix_bytes_ = 0;  // that have arrived of the prefix of the next message
  char prefix_[MessagePrefix::kBytes] = {};
  // The unfinished message: between two calls it has room, or is null.
  std::shared_ptr<ReceivedBody> body_;
  absl::Status refused_;  // of the unfinished message
  uint64_t to_drop_ = 0;  // bytes of a refused message that are still to come
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_READER_H_
