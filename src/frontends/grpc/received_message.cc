// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/received_message.h"

#include <absl/types/span.h>

#include <functional>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "frontends/codec/inline_limits.h"
#include "frontends/grpc/infer_parameters.h"
#include "frontends/grpc/tree_cost.h"

namespace nereid {
namespace {

// The lists of a typical message that was split are part of every request's charge.
constexpr uint64_t kFreeSplitBytes = 4096;

absl::Status NoMessage() { return absl::InvalidArgumentError("Unable to parse request"); }

// A parsed message that is to be freed, and what pays for it until then.
struct Tree {
  inference::ModelInferRequest message;
  BudgetUnits units;
};

}  // namespace

absl::StatusOr<bool> ReceivedMessage::ParseAtOnce(Budget* budget) {
  const absl::string_view whole = bytes_->text();
  const SplitEnd end =
      SplitMessage(absl::MakeConstSpan(&whole, 1), kMostInlineProtoFields, &split_);
  if (end == SplitEnd::kMalformed) return NoMessage();
  if (end == SplitEnd::kTooManyFields || !HeaderIsQuick()) return false;
  RETURN_IF_ERROR(ParseHeader(budget));
  return true;
}

bool ReceivedMessage::HeaderIsQuick() const {
  if (split_.header_size() <= kMostInlineProtoBytes) return true;
  if (split_.header_pieces.size() > 1) return false;
  const std::optional<TreeCost> cost =
      ForetellTree(*inference::ModelInferRequest::descriptor(), split_.header_pieces.front(),
                   kMostInlineProtoBytes);
  // A malformed one will be refused as quickly.
  return !cost.has_value() || cost->work <= kMostInlineProtoBytes;
}

absl::Status ReceivedMessage::ParseElsewhere(Budget* budget, ThreadPool* executor) {
  if (parsed_) return absl::OkStatus();
  executor_ = executor;
  const absl::string_view whole = bytes_->text();
  if (SplitMessage(absl::MakeConstSpan(&whole, 1), UINT64_MAX, &split_) != SplitEnd::kWhole) {
    return NoMessage();
  }
  return ParseHeader(budget);
}

absl::Status ReceivedMessage::ParseHeader(Budget* budget) {
  if (const uint64_t cost = split_.byte_cost(); cost > kFreeSplitBytes) {
    ASSIGN_OR_RETURN(split_units_, budget->TakeFor(holder(), cost, ShareUse::kAdmission));
  }
  JoinHeader(&split_);
  if (!ReadPlainRequest(split_.header, &plain_)) {
    message_.emplace();
    ASSIGN_OR_RETURN(tree_units_, ParseCharged(split_.header, budget, holder(), &*message_));
  }
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
  if (executor_ != nullptr && message_.has_value()) {
    std::function<void()> free =
        [tree = std::make_shared<Tree>(Tree{std::move(*message_), std::move(tree_units_)})] {};
    // If the executor takes no more, this thread frees it.
    std::ignore = executor_->TryRun(std::move(free));
  }
  executor_ = nullptr;
  message_.reset();
  parsed_ = false;
  split_.Clear();
  bytes_.reset();
  split_units_.Return();
  tree_units_.Return();
}

}  // namespace nereid
