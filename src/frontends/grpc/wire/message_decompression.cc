// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_decompression.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace nereid {

MessageDecompression::MessageDecompression(MessageCoding coding,
                                           std::shared_ptr<ReceivedBody> compressed,
                                           const MessageLimit& limit, Budget* budget)
    : coding_(coding), limit_(limit) {
  if (compressed->size() == 0) {
    empty_ = std::move(compressed);
  } else if (coding != MessageCoding::kIdentity) {
    body_.emplace(ContentCodingOf(coding), std::move(compressed), /*aligned_offset=*/0, limit.bytes,
                  budget);
  }
}

absl::StatusOr<bool> MessageDecompression::Run(uint64_t pause_at) {
  if (empty_ != nullptr) return true;
  if (!body_.has_value()) {
    return absl::InternalError(
        "a message is marked as compressed, but 'grpc-encoding' of the call names no compression");
  }
  absl::StatusOr<bool> done = body_->Run(pause_at);
  if (done.ok() || !absl::IsInvalidArgument(done.status())) return done;
  // The decompressor's own texts speak of HTTP bodies and their options.
  if (body_->filled() > limit_.bytes) {
    return MessageTooLong(absl::StrCat("more than ", limit_.bytes, " bytes after decompression"),
                          limit_);
  }
  return absl::InternalError(absl::StrCat("a message compressed with ", MessageCodingName(coding_),
                                          " is damaged; it cannot be decompressed"));
}

std::shared_ptr<ReceivedBody> MessageDecompression::Finish() {
  return empty_ != nullptr ? std::move(empty_) : body_->Finish();
}

}  // namespace nereid
