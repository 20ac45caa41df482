// SPDX-License-Identifier: Apache-2.0
#include "frontends/header_forwarding/header_forwarding.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace nereid {
namespace {

constexpr absl::string_view kReservedPrefix = "triton_";
constexpr std::array<absl::string_view, 7> kReserved = {
    "sequence_id", "sequence_start", "sequence_end",      "priority",
    "timeout",     "headers",        "binary_data_output"};

bool IsReserved(absl::string_view name) {
  return absl::StartsWith(name, kReservedPrefix) ||
         std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

}  // namespace

absl::StatusOr<HeaderForwarding> HeaderForwarding::Create(const std::string& pattern) {
  if (pattern.empty()) return HeaderForwarding();
  auto compiled = std::make_shared<const re2::RE2>("(?i)" + pattern, re2::RE2::Quiet);
  if (!compiled->ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", pattern, "' is no regular expression: ", compiled->error()));
  }
  return HeaderForwarding(std::move(compiled));
}

absl::Status HeaderForwarding::Forward(absl::string_view name, absl::string_view value,
                                       InferRequest* request) const {
  if (pattern_ == nullptr ||
      !re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern_)) {
    return absl::OkStatus();
  }
  if (IsReserved(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Header '", name, "' is reserved for Triton usage and cannot be forwarded."));
  }
  request->AddParameter({std::string(name), std::string(value)});
  return absl::OkStatus();
}

}  // namespace nereid
