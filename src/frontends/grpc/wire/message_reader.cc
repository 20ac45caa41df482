// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/wire/message_reader.h"

#include <absl/base/optimization.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "infer/request_cost.h"

namespace nereid {
namespace {

// The first step is granted for the announcement alone; each further one is as large as what the
// client has sent so far, so that few are needed.
constexpr uint64_t kFirstStep = 64 << 10;
constexpr uint64_t kLargestStep = 1 << 20;
// Refused messages up to this size are read, without being paid for.
constexpr uint64_t kReadAllTheSame = 4096;

uint64_t LengthIn(const char* prefix) {
  uint64_t length = 0;
  for (size_t i = 1; i < MessagePrefix::kBytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

}  // namespace

absl::Status MessageTooLong(absl::string_view size, const MessageLimit& limit) {
  std::string text =
      absl::StrCat("Received message larger than max (", size, " vs. ", limit.bytes, ")");
  if (!limit.method.empty()) {
    absl::StrAppend(&text, ": '", limit.method, "' takes messages of at most ", limit.bytes,
                    " bytes");
  }
  if (!limit.option.empty()) absl::StrAppend(&text, ", which ", limit.option, " sets");
  return absl::ResourceExhaustedError(text);
}

absl::Status MessageReader::Append(absl::string_view bytes, OnMessage on_message, size_t* unread) {
  if (unread != nullptr) *unread = 0;
  if (ABSL_PREDICT_FALSE(!error_.ok())) return error_;
  bool go_on = true;
  while (!bytes.empty() && go_on) {
    if (to_drop_ > 0) {
      const size_t n = std::min<uint64_t>(to_drop_, bytes.size());
      to_drop_ -= n;
      bytes.remove_prefix(n);
      continue;
    }
    if (body_ == nullptr) {
      RETURN_IF_ERROR(ReadPrefix(&bytes, on_message, &go_on));
      if (body_ == nullptr) continue;
    } else {
      const size_t n = std::min(body_->room(), bytes.size());
      body_->Append(bytes.substr(0, n));
      bytes.remove_prefix(n);
    }
    go_on = GoOn(on_message);
  }
  if (unread != nullptr) *unread = bytes.size();
  return absl::OkStatus();
}

absl::Status MessageReader::ReadPrefix(absl::string_view* bytes, OnMessage on_message,
                                       bool* go_on) {
  const size_t n = std::min(MessagePrefix::kBytes - prefix_bytes_, bytes->size());
  std::memcpy(prefix_ + prefix_bytes_, bytes->data(), n);
  prefix_bytes_ += n;
  bytes->remove_prefix(n);
  if (const auto flag = static_cast<unsigned char>(prefix_[0]); flag > 1) {
    return Fail(absl::InternalError(
        absl::StrCat("a message begins with an unknown flag: ", static_cast<int>(flag))));
  }
  if (prefix_bytes_ < MessagePrefix::kBytes) return absl::OkStatus();
  prefix_bytes_ = 0;
  return BeginMessage(LengthIn(prefix_), on_message, go_on);
}

absl::Status MessageReader::BeginMessage(uint64_t length, OnMessage on_message, bool* go_on) {
  if (length > limit_.bytes) return Fail(MessageTooLong(absl::StrCat(length), limit_));
  // What the budget could not pay for even if no other client held anything is refused at once,
  // in the budget's own words.
  if (budget_ != nullptr && length + kRequestCost > budget_->most_for_one(ShareUse::kAdmission)) {
    *go_on = Refuse(length, length,
                    budget_->TakeFairly(length + kRequestCost, 0, ShareUse::kAdmission).status(),
                    on_message);
    return absl::OkStatus();
  }
  body_ = ReceivedBody::Reserve(length, length % ReceivedBody::kAlignment);
  if (body_ == nullptr) {
    *go_on = Refuse(length, length,
                    absl::UnavailableError(absl::StrCat("out of memory for a message of ", length,
                                                        " bytes; try again later")),
                    on_message);
    return absl::OkStatus();
  }
  if (absl::Status granted = GrantStep(); !granted.ok()) {
    *go_on = Refuse(length, length, std::move(granted), on_message);
  }
  return absl::OkStatus();
}

bool MessageReader::Refuse(uint64_t length, uint64_t left, absl::Status error,
                           OnMessage on_message) {
  body_.reset();
  if (length <= kReadAllTheSame && length == left) {
    body_ = ReceivedBody::Reserve(length, 0);
    if (body_ != nullptr) {
      body_->Grant(length, BudgetUnits());
      refused_ = std::move(error);
      return true;
    }
  }
  to_drop_ = left;
  return on_message({prefix_[0] != 0, nullptr, std::move(error)});
}

absl::Status MessageReader::GrantStep() {
  const uint64_t step = std::clamp<uint64_t>(body_->size(), kFirstStep, kLargestStep);
  const uint64_t more = std::min<uint64_t>(body_->capacity() - body_->size(), step);
  BudgetUnits units;
  if (budget_ != nullptr) {
    const bool is_first = body_->charged() == 0;
    auto taken =
        budget_->TakeFor(holder_, is_first ? more + kRequestCost : more, ShareUse::kAdmission);
    if (!taken.ok()) return taken.status();
    units = *std::move(taken);
  }
  body_->Grant(more, std::move(units));
  return absl::OkStatus();
}

bool MessageReader::GoOn(OnMessage on_message) {
  if (body_->size() == body_->capacity()) {
    body_->Seal();
    return on_message(
        {prefix_[0] != 0, std::move(body_), std::exchange(refused_, absl::OkStatus())});
  }
  if (body_->room() > 0) return true;
  if (absl::Status granted = GrantStep(); !granted.ok()) {
    const uint64_t length = body_->capacity();
    return Refuse(length, length - body_->size(), std::move(granted), on_message);
  }
  return true;
}

absl::Status MessageReader::Fail(absl::Status error) {
  body_.reset();
  prefix_bytes_ = 0;
  error_ = std::move(error);
  return error_;
}

}  // namespace nereid
