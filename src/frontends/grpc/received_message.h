// ReceivedMessage: the bytes of one ModelInferRequest as gRPC received them, and their content: raw
// tensors as views, the rest parsed. Reusable. Thread-compatible.
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
  // Receives the bytes before Parse.
  grpc::ByteBuffer* bytes() { return &bytes_; }

  // Parses the bytes. INVALID_ARGUMENT if they are not a ModelInferRequest, UNAVAILABLE if `budget`
  // refuses a client that holds `held` the memory for the parsed message.
  absl::Status Parse(Budget* budget, uint64_t held);
  // Whether Parse succeeded.
  bool parsed() const { return parsed_; }
  // Views; valid until Clear. REQUIRES: parsed().
  ReceivedRequest request() const { return {*message_, split_}; }
  const inference::ModelInferRequest& message() const { return *message_; }

  // Drops everything; releases memory beyond what a typical message needs.
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
