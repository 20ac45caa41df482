// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/body_receiver.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace nereid::http {
namespace {

constexpr uint64_t kMaxContentLength = std::numeric_limits<int64_t>::max();
constexpr size_t kMinUnsizedCapacity = 4096;
// A body is charged to the budget in steps. The first step needs no bytes of the body; each further
// one is as large as what the client has sent so far, up to kLargestStep.
constexpr uint64_t kFirstStep = 64 << 10;
constexpr uint64_t kLargestStep = 1 << 20;

// Which byte of the body of `request` goes on a 64-byte boundary.
size_t AlignedOffset(const HttpRequest& request, const HttpServerOptions& options) {
  if (options.body_split_header.empty()) return 0;
  uint64_t offset = 0;
  auto text = request.FindHeader(options.body_split_header);
  if (!text.has_value() || !absl::ConsumePrefix(&*text, options.body_split_prefix)) return 0;
  // If the value is not a number, the body is only not aligned. The handler refuses it later.
  if (!absl::SimpleAtoi(*text, &offset)) return 0;
  return offset % ReceivedBody::kAlignment;
}

}  // namespace

bool BodyReceiver::BeginSized(const HttpRequest& request, const BodyLimit& limit, uint64_t size) {
  limit_ = limit;
  sized_ = true;
  size_ = size;
  body_.reset();
  if (size > kMaxContentLength) return Refuse(400, ContentLengthError(absl::StrCat(size)));
  if (size > limit.bytes) return RefuseForRoute(size);
  if (size > options_->max_body_bytes) {
    return Refuse(413, SizeError(absl::StrCat(" of ", size, " bytes")));
  }
  if (size == 0) return true;
  if (!IsPayable(size)) return false;
  body_ = ReceivedBody::Reserve(size, AlignedOffset(request, *options_));
  return body_ != nullptr || Refuse(503, "out of memory for the request body");
}

void BodyReceiver::BeginUnsized(const HttpRequest& request, const BodyLimit& limit) {
  limit_ = limit;
  sized_ = false;
  size_ = 0;
  body_.reset();
  aligned_offset_ = AlignedOffset(request, *options_);
}

bool BodyReceiver::Announce(uint64_t size) {
  if (size_ > limit_.bytes || size > limit_.bytes - size_) return RefuseForRoute(std::nullopt);
  if (size > options_->max_body_bytes - size_) return Refuse(413, SizeError(""));
  size_ += size;
  return IsPayable(size_);
}

bool BodyReceiver::MakeRoom() {
  if (body_->room() > 0) return true;
  const uint64_t step = std::clamp<uint64_t>(body_->size(), kFirstStep, kLargestStep);
  const uint64_t more = std::min(size_ - body_->size(), step);
  std::optional<BudgetUnits> units = TakeUnits(more);
  if (!units.has_value()) return false;
  body_->Grant(more, *std::move(units));
  return true;
}

absl::Span<char> BodyReceiver::room() {
  if (body_ == nullptr) return {};
  return absl::MakeSpan(body_->mutable_end(), body_->room());
}

bool BodyReceiver::Append(absl::string_view bytes) {
  if (!sized_) return AppendUnsized(bytes);
  while (!bytes.empty()) {
    if (!MakeRoom()) return false;
    const size_t n = std::min(bytes.size(), body_->room());
    body_->Append(bytes.substr(0, n));
    bytes.remove_prefix(n);
  }
  return true;
}

bool BodyReceiver::AppendUnsized(absl::string_view bytes) {
  if (bytes.empty()) return true;
  const size_t have = body_ == nullptr ? 0 : body_->capacity();
  const size_t needed = received() + bytes.size();
  if (needed > have) {
    // Grows with the received bytes, not with the announced ones, and not beyond what can be paid.
    const uint64_t wish = std::max(kMinUnsizedCapacity, 2 * have);
    const size_t capacity = std::max<uint64_t>(needed, std::min(wish, MostPayable()));
    std::optional<BudgetUnits> units = TakeUnits(capacity - have);
    if (!units.has_value()) return false;
    bool grown = true;
    if (body_ == nullptr) {
      body_ = ReceivedBody::Reserve(capacity, aligned_offset_);
      grown = body_ != nullptr;
    } else {
      grown = body_->Grow(capacity);
    }
    if (!grown) return Refuse(503, "out of memory for the request body");
    body_->Grant(capacity - have, *std::move(units));
  }
  body_->Append(bytes);
  return true;
}

std::optional<BudgetUnits> BodyReceiver::TakeUnits(uint64_t bytes) {
  Budget* const budget = options_->body_budget;
  if (budget == nullptr) return BudgetUnits();
  // The first units also pay for the request itself.
  if (body_ == nullptr || body_->charged() == 0) bytes += options_->request_cost;
  auto units = budget->TakeFor(holder_, bytes, ShareUse::kAdmission);
  if (units.ok()) return *std::move(units);
  Refuse(503, std::string(units.status().message()));
  return std::nullopt;
}

uint64_t BodyReceiver::MostPayable() const {
  const Budget* const budget = options_->body_budget;
  if (budget == nullptr) return std::numeric_limits<uint64_t>::max();
  const uint64_t most = budget->most_for_one(ShareUse::kAdmission);
  return most - std::min(most, options_->request_cost);
}

// If the budget could not pay for `size` bytes even if no other client held anything, trying again
// later does not help.
bool BodyReceiver::IsPayable(uint64_t size) {
  if (size <= MostPayable()) return true;
  const Budget* const budget = options_->body_budget;
  return Refuse(
      413, absl::StrCat("request body of ", size, " bytes and ", options_->request_cost,
                        " for the request exceed the ", budget->most_for_one(ShareUse::kAdmission),
                        " bytes that one request may take of "
                        "the server limit '",
                        budget->name(), "' of ", budget->limit(), ". Use ", budget->option(),
                        " to increase the limit."));
}

std::string BodyReceiver::SizeError(absl::string_view size) const {
  return absl::StrCat("request body", size, " exceeds the maximum of ", options_->max_body_bytes,
                      " bytes. Use --http-max-body-size to increase the limit.");
}

bool BodyReceiver::RefuseForRoute(std::optional<uint64_t> size) {
  return Refuse(limit_.status, limit_.error(size, limit_.bytes));
}

bool BodyReceiver::Refuse(int status, std::string message) {
  refusal_ = {status, std::move(message), limit_.form};
  return false;
}

std::shared_ptr<ReceivedBody> BodyReceiver::Take() {
  if (body_ != nullptr) body_->Seal();
  return std::move(body_);
}

std::string ContentLengthError(absl::string_view text) {
  const bool number = !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  return absl::StrCat(
      "Unable to parse Content-Length, ",
      number ? absl::StrCat("value is out of range [ 0, ", kMaxContentLength, " ], ") : "",
      "got: ", text);
}

std::string SlowBodyError(const transport::Pace& pace, const HttpServerOptions& options) {
  if (!pace.by_rate()) return "timed out waiting for the request body";
  return absl::StrCat("timed out: the request body arrives at less than ",
                      options.min_bytes_per_second,
                      " bytes per second (--http-min-rate-bytes-per-sec)");
}

Expectation ExpectationOf(const HttpRequest& request) {
  const auto expect = request.FindHeader("Expect");
  if (!expect.has_value()) return {};
  if (absl::EqualsIgnoreCase(*expect, "100-continue")) return {/*awaits_continue=*/true, {}};
  return {false, Refusal{417, absl::StrCat("unsupported expectation '", *expect, "'")}};
}

}  // namespace nereid::http
