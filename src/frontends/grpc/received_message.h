// ReceivedMessage: the bytes of one ModelInferRequest as gRPC received them, and what is found in
// them: raw tensors as views, the rest parsed. Reusable. Thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_RECEIVED_MESSAGE_H_
#define NEREID_FRONTENDS_GRPC_RECEIVED_MESSAGE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/budget.h"
#include "frontends/grpc/infer_request_reader.h"
#include "frontends/grpc/proto_reader.h"
#include "grpc_service.pb.h"

namespace nereid {

class ReceivedMessage {
 public:
  // Where the bytes are to be put before Parse.
  grpc::ByteBuffer* bytes() { return &bytes_; }

  // Takes the bytes apart. INVALID_ARGUMENT when they are no ModelInferRequest, UNAVAILABLE when
  // `budget` refuses the memory that the parsed message will take, to a client that holds `held`.
  absl::Status Parse(Budget* budget, uint64_t held);
  // Whether the message was read.
  bool parsed() const { return parsed_; }
  // Views; valid until Clear. REQUIRES: parsed().
  ReceivedRequest request() const { return {*message_, split_}; }
  const inference::ModelInferRequest& message() const { return *message_; }

  // Forgets everything; gives back memory beyond a usual message's.
  void Clear();

 private:
  grpc::ByteBuffer bytes_;
  std::vector<grpc::Slice> slices_;
  std::vector<absl::string_view> slice_views_;
  SplitInferRequest split_;
  std::optional<inference::ModelInferRequest> message_;
  bool parsed_ = false;
  BudgetUnits tree_units_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_RECEIVED_MESSAGE_H_
