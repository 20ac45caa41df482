// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/grpc_message.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/loadgen/proto_fields.h"
#include "base/status_macros.h"

namespace nereid::bench {
namespace {

// Fields of ModelInferResponse.
constexpr uint32_t kParameters = 4;
constexpr uint32_t kRawOutputContents = 6;
// Fields of an entry of its parameters, and of the parameter.
constexpr uint32_t kKey = 1;
constexpr uint32_t kValue = 2;
constexpr uint32_t kBoolParameter = 1;
// Fields of ModelStreamInferResponse.
constexpr char kErrorMessageTag = 1 << 3 | 2;
constexpr uint32_t kInferResponse = 2;
constexpr char kInferResponseTag = kInferResponse << 3 | 2;

absl::Status Broken() { return absl::DataLossError("an answer of another type"); }

absl::StatusOr<absl::string_view> TakeBytes(size_t size, absl::string_view* bytes) {
  if (size > bytes->size()) return Broken();
  const absl::string_view taken = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return taken;
}

// The value of the field `number` in `message`, which may be cut off behind it; nothing if it is
// not there.
std::optional<absl::string_view> Find(uint32_t number, absl::string_view message) {
  while (!message.empty()) {
    // The length of the last field may reach past the end of what was kept.
    const absl::StatusOr<ProtoField> field = TakeField(&message);
    if (!field.ok()) return std::nullopt;
    if (field->number == number && field->type == ProtoField::kBytes) return field->bytes;
  }
  return std::nullopt;
}

// Whether a ModelInferResponse, possibly cut off, says that it is the last one of its request.
bool IsFinal(absl::string_view response) {
  while (!response.empty()) {
    const absl::StatusOr<ProtoField> entry = TakeField(&response);
    if (!entry.ok()) return false;
    if (entry->number != kParameters || Find(kKey, entry->bytes) != "triton_final_response") {
      continue;
    }
    absl::string_view value = Find(kValue, entry->bytes).value_or("");
    const absl::StatusOr<ProtoField> flag = TakeField(&value);
    return flag.ok() && flag->number == kBoolParameter && flag->varint != 0;
  }
  return false;
}

}  // namespace

std::string WithGrpcPrefix(absl::string_view message) {
  std::string bytes(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(message.size() >> shift & 0xff));
  }
  bytes.append(message.data(), message.size());
  return bytes;
}

absl::StatusOr<uint64_t> GrpcMessageLength(absl::string_view prefix) {
  if (prefix[0] != 0) return absl::DataLossError("a compressed answer, which nobody asked for");
  uint64_t length = 0;
  for (size_t i = 1; i < kGrpcPrefixBytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

StreamMessage ReadStreamMessage(absl::string_view head) {
  StreamMessage message;
  // Not by TakeField, because the field is longer than what was kept of it.
  const absl::StatusOr<uint64_t> tag = TakeVarint(&head);
  const absl::StatusOr<uint64_t> size = TakeVarint(&head);
  if (!tag.ok() || !size.ok()) return message;
  if (*tag == kErrorMessageTag) {
    message.failed = true;
    message.error = head.substr(0, *size);
    head.remove_prefix(message.error.size());
    const std::optional<absl::string_view> response = Find(kInferResponse, head);
    message.final = response.has_value() && IsFinal(*response);
  } else if (*tag == kInferResponseTag) {
    message.final = IsFinal(head.substr(0, *size));
  }
  return message;
}

void GrpcMessageCounter::Reset(bool streamed, bool watch_final) {
  streamed_ = streamed;
  watch_final_ = watch_final;
  final_ = compressed_ = at_first_byte_ = keep_head_ = false;
  whole_ = stream_errors_ = left_ = 0;
  prefix_bytes_ = 0;
  head_.clear();
  error_.clear();
}

void GrpcMessageCounter::Add(absl::string_view bytes) {
  while (!bytes.empty()) {
    if (prefix_bytes_ < kGrpcPrefixBytes) {
      prefix_[prefix_bytes_++] = bytes.front();
      bytes.remove_prefix(1);
      if (prefix_bytes_ == kGrpcPrefixBytes) EndOfPrefix();
      continue;
    }
    // Protobuf writes fields in the order of their numbers, so an error message comes first.
    if (std::exchange(at_first_byte_, false)) {
      keep_head_ = streamed_ && (watch_final_ || bytes.front() == kErrorMessageTag);
      head_.clear();
    }
    const size_t taken = std::min<uint64_t>(left_, bytes.size());
    if (keep_head_ && head_.size() < kHeadBytes) {
      head_.append(bytes.data(), std::min(taken, kHeadBytes - head_.size()));
    }
    bytes.remove_prefix(taken);
    left_ -= taken;
    if (left_ == 0) EndOfMessage();
  }
}

void GrpcMessageCounter::EndOfPrefix() {
  const absl::StatusOr<uint64_t> length = GrpcMessageLength({prefix_.data(), prefix_.size()});
  compressed_ = compressed_ || !length.ok();
  left_ = length.value_or(0);
  at_first_byte_ = left_ > 0;
  keep_head_ = false;
  if (left_ == 0) EndOfMessage();
}

void GrpcMessageCounter::EndOfMessage() {
  ++whole_;
  prefix_bytes_ = 0;
  if (!std::exchange(keep_head_, false)) return;
  const StreamMessage message = ReadStreamMessage(head_);
  final_ = final_ || message.final;
  if (message.failed && stream_errors_++ == 0) error_ = std::string(message.error);
}

absl::StatusOr<std::string> JoinedRawOutputs(absl::string_view stream) {
  std::string joined;
  while (!stream.empty()) {
    ASSIGN_OR_RETURN(const absl::string_view prefix, TakeBytes(kGrpcPrefixBytes, &stream));
    ASSIGN_OR_RETURN(const uint64_t length, GrpcMessageLength(prefix));
    ASSIGN_OR_RETURN(absl::string_view message, TakeBytes(length, &stream));
    ASSIGN_OR_RETURN(const ProtoField response, TakeField(&message));
    if (response.number != kInferResponse || response.type != ProtoField::kBytes) return Broken();
    ASSIGN_OR_RETURN(const absl::string_view output, SoleRawOutput(response.bytes));
    joined.append(output.data(), output.size());
  }
  return joined;
}

absl::StatusOr<absl::string_view> SoleRawOutput(absl::string_view response) {
  absl::string_view found;
  int count = 0;
  while (!response.empty()) {
    ASSIGN_OR_RETURN(const ProtoField field, TakeField(&response));
    if (field.number != kRawOutputContents) continue;
    if (field.type != ProtoField::kBytes) return Broken();
    found = field.bytes;
    ++count;
  }
  if (count == 1) return found;
  return absl::DataLossError(absl::StrCat(count, " raw outputs, expected 1"));
}

}  // namespace nereid::bench
