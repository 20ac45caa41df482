// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/body_decompression.h"

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {

absl::StatusOr<absl::Span<char>> MakeRoomForPlain(std::shared_ptr<ReceivedBody>* plain,
                                                  size_t aligned_offset, Budget* budget,
                                                  const std::shared_ptr<Holder>& holder,
                                                  uint64_t filled, uint64_t wish) {
  ReceivedBody* body = plain->get();
  const uint64_t have = body == nullptr ? 0 : body->capacity();
  ASSIGN_OR_RETURN(BudgetUnits units, budget->TakeFor(holder, wish - have, ShareUse::kAdmission));
  if (body == nullptr) {
    *plain = ReceivedBody::Reserve(wish, aligned_offset);
    body = plain->get();
    if (body == nullptr) return absl::UnavailableError("out of memory for the request body");
  } else {
    body->Extend(filled - body->size());
    if (!body->Grow(wish)) return absl::UnavailableError("out of memory for the request body");
  }
  body->Grant(wish - have, std::move(units));
  return absl::MakeSpan(body->mutable_end() - body->size(), body->capacity());
}

BodyDecompression::BodyDecompression(ContentCoding coding, std::shared_ptr<ReceivedBody> compressed,
                                     size_t aligned_offset, uint64_t max_size, Budget* budget)
    : compressed_(std::move(compressed)),
      aligned_offset_(aligned_offset),
      budget_(budget),
      decompressor_(coding, compressed_ == nullptr ? absl::string_view() : compressed_->text(),
                    max_size) {}

absl::StatusOr<bool> BodyDecompression::Run(uint64_t pause_at) {
  return decompressor_.Run(
      pause_at, [this](uint64_t filled, uint64_t wish) { return MakeRoom(filled, wish); });
}

absl::StatusOr<absl::Span<char>> BodyDecompression::MakeRoom(uint64_t filled, uint64_t wish) {
  return MakeRoomForPlain(&plain_, aligned_offset_, budget_,
                          compressed_ == nullptr ? nullptr : compressed_->holder(), filled, wish);
}

std::shared_ptr<ReceivedBody> BodyDecompression::Finish() {
  compressed_.reset();
  plain_->Extend(decompressor_.filled() - plain_->size());
  plain_->Seal();
  return std::move(plain_);
}

}  // namespace nereid
