#include "infer/only_response.h"

#include <absl/strings/str_cat.h>

namespace nereid {

absl::StatusOr<std::unique_ptr<InferResponse>> OnlyResponse::Take() {
  if (count() != 1) {
    return absl::InternalError(absl::StrCat("expected a single response, got ", count()));
  }
  if (!first_->status().ok()) return first_->status();
  return std::move(first_);
}

}  // namespace nereid
