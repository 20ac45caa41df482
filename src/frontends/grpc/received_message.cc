#include "frontends/grpc/received_message.h"

#include <absl/types/span.h>

#include "base/status_macros.h"
#include "frontends/grpc/infer_parameters.h"
#include "frontends/grpc/tree_cost.h"

namespace nereid {
namespace {

}  // namespace

absl::Status ReceivedMessage::Parse(Budget* budget, uint64_t held) {
  const absl::string_view whole = bytes_->text();
  if (!SplitMessage(absl::MakeConstSpan(&whole, 1), &split_)) {
    return absl::InvalidArgumentError("Unable to parse request");
  }
  if (ReadPlainRequest(split_.header, &plain_)) {
    parsed_ = true;
    return absl::OkStatus();
  }
  message_.emplace();
  ASSIGN_OR_RETURN(tree_units_, ParseCharged(split_.header, budget, held, &*message_));
  parsed_ = true;
  return absl::OkStatus();
}

absl::string_view ReceivedMessage::id() const {
  return message_.has_value() ? absl::string_view(message_->id()) : plain_.id;
}

absl::string_view ReceivedMessage::model_name() const {
  return message_.has_value() ? absl::string_view(message_->model_name()) : plain_.model_name;
}

absl::string_view ReceivedMessage::model_version() const {
  return message_.has_value() ? absl::string_view(message_->model_version()) : plain_.model_version;
}

bool ReceivedMessage::wants_empty_final_response() const {
  return message_.has_value() && WantsEmptyFinalResponse(message_->parameters());
}

absl::Status ReceivedMessage::Read(InferRequest* request, RequestBuffers* buffers,
                                   OutputFormats* formats) const {
  if (!message_.has_value()) return ReadPlainInferRequest(plain_, split_, request, buffers);
  return ReadInferRequest({*message_, split_}, request, buffers, formats);
}

void ReceivedMessage::Clear() {
  plain_ = PlainRequest();
  message_.reset();
  parsed_ = false;
  split_.Clear();
  bytes_.reset();
  tree_units_.Return();
}

}  // namespace nereid
