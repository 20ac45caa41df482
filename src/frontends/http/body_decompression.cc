#include "frontends/http/body_decompression.h"

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {

BodyDecompression::BodyDecompression(ContentCoding coding, std::shared_ptr<HttpBody> compressed,
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
  const uint64_t have = plain_ == nullptr ? 0 : plain_->capacity();
  const uint64_t held = (compressed_ == nullptr ? 0 : compressed_->charged()) +
                        (plain_ == nullptr ? 0 : plain_->charged());
  ASSIGN_OR_RETURN(BudgetUnits units, budget_->TakeFairly(wish - have, held, ShareUse::kAdmission));
  if (plain_ == nullptr) {
    plain_ = HttpBody::Reserve(wish, aligned_offset_);
    if (plain_ == nullptr) return absl::UnavailableError("out of memory for the request body");
  } else {
    plain_->Extend(filled - plain_->size());
    if (!plain_->Grow(wish)) return absl::UnavailableError("out of memory for the request body");
  }
  plain_->Grant(wish - have, std::move(units));
  return absl::MakeSpan(plain_->mutable_end() - plain_->size(), plain_->capacity());
}

std::shared_ptr<HttpBody> BodyDecompression::Finish() {
  compressed_.reset();
  plain_->Extend(decompressor_.filled() - plain_->size());
  plain_->Seal();
  return std::move(plain_);
}

}  // namespace nereid
