// SPDX-License-Identifier: Apache-2.0
// ReceivedMessage: the bytes of one ModelInferRequest as they were received, and their content: raw
// tensors and, in a plain request, everything else as views; otherwise parsed by protobuf.
// Thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_RECEIVED_MESSAGE_H_
#define NEREID_FRONTENDS_GRPC_RECEIVED_MESSAGE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/received_body.h"
#include "frontends/grpc/infer_request_reader.h"
#include "frontends/grpc/plain_request.h"
#include "frontends/grpc/proto_reader.h"
#include "grpc_service.pb.h"

namespace nereid {

class ReceivedMessage {
 public:
  // The bytes to parse.
  void Take(std::shared_ptr<ReceivedBody> bytes) { bytes_ = std::move(bytes); }
  size_t size() const { return bytes_ == nullptr ? 0 : bytes_->size(); }
  // The client, as the one who holds what pays for the bytes. REQUIRES: Take was called.
  const std::shared_ptr<Holder>& holder() const { return bytes_->holder(); }

  // Parses the bytes, unless that takes an I/O thread too long: then returns false, and
  // ParseElsewhere is to be called. INVALID_ARGUMENT if they are not a ModelInferRequest,
  // UNAVAILABLE if `budget` refuses the client the memory for the parsed message.
  absl::StatusOr<bool> ParseAtOnce(Budget* budget);
  // Parses bytes of which ParseAtOnce has returned false, on a thread that may take its time. A
  // thread of `executor`, which outlives the message, will free what they become, because that
  // takes long as well.
  absl::Status ParseElsewhere(Budget* budget, ThreadPool* executor);
  // Whether the bytes were parsed.
  bool parsed() const { return parsed_; }
  // Views; valid until Clear. REQUIRES, and for Read: parsed().
  absl::string_view id() const;
  absl::string_view model_name() const;
  absl::string_view model_version() const;
  // Whether a stream's client wants to hear of the end of its request also
  // without a response.
  bool wants_empty_final_response() const;
  // As ReadInferRequest. The inputs are valid until Clear.
  absl::Status Read(InferRequest* request, RequestBuffers* buffers, OutputFormats* formats) const;

  // Drops everything.
  void Clear();

 private:
  // Of bytes that are split.
  absl::Status ParseHeader(Budget* budget);
  // Whether protobuf parses the header of the split bytes in no time.
  bool HeaderIsQuick() const;

  std::shared_ptr<ReceivedBody> bytes_;
  SplitInferRequest split_;
  PlainRequest plain_;                                   // used unless there is a message_
  std::optional<inference::ModelInferRequest> message_;  // of a request that is not plain
  bool parsed_ = false;
  BudgetUnits split_units_;
  BudgetUnits tree_units_;          // pay for message_
  ThreadPool* executor_ = nullptr;  // that frees message_; null: it needs none
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_RECEIVED_MESSAGE_H_
