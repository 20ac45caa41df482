#include "apps/loadgen/grpc_message.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

constexpr uint64_t kRawOutputContents = 6;
// Fields of ModelStreamInferResponse.
constexpr char kErrorMessageTag = 1 << 3 | 2;
constexpr uint64_t kInferResponse = 2;

absl::Status Broken() { return absl::DataLossError("an answer of another type"); }

// Removes a varint from the front of `bytes` and returns it.
absl::StatusOr<uint64_t> TakeVarint(absl::string_view* bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return Broken();
}

absl::StatusOr<absl::string_view> Take(uint64_t size, absl::string_view* bytes) {
  if (size > bytes->size()) return Broken();
  const absl::string_view taken = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return taken;
}

// Removes the value of a field; returns it, or nothing for a varint, which no caller needs.
absl::StatusOr<absl::string_view> TakeValue(uint64_t wire_type, absl::string_view* bytes) {
  switch (wire_type) {
    case 0:
      RETURN_IF_ERROR(TakeVarint(bytes).status());
      return absl::string_view();
    case 1:
      return Take(8, bytes);
    case 2: {
      ASSIGN_OR_RETURN(const uint64_t size, TakeVarint(bytes));
      return Take(size, bytes);
    }
    case 5:
      return Take(4, bytes);
    default:
      return Broken();
  }
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

void GrpcMessageCounter::Add(absl::string_view bytes) {
  while (!bytes.empty()) {
    if (prefix_bytes_ < kGrpcPrefixBytes) {
      prefix_[prefix_bytes_++] = bytes.front();
      bytes.remove_prefix(1);
      if (prefix_bytes_ == kGrpcPrefixBytes) EndOfPrefix();
      continue;
    }
    // Protobuf writes fields in the order of their numbers, so an error message comes first.
    if (std::exchange(at_first_byte_, false) && bytes.front() == kErrorMessageTag) ++stream_errors_;
    const size_t taken = std::min<uint64_t>(left_, bytes.size());
    bytes.remove_prefix(taken);
    left_ -= taken;
    if (left_ > 0) continue;
    ++whole_;
    prefix_bytes_ = 0;
  }
}

void GrpcMessageCounter::EndOfPrefix() {
  const absl::StatusOr<uint64_t> length = GrpcMessageLength({prefix_.data(), prefix_.size()});
  compressed_ = compressed_ || !length.ok();
  left_ = length.value_or(0);
  at_first_byte_ = left_ > 0;
  if (left_ > 0) return;
  ++whole_;
  prefix_bytes_ = 0;
}

absl::StatusOr<std::string> JoinedRawOutputs(absl::string_view stream) {
  std::string joined;
  while (!stream.empty()) {
    ASSIGN_OR_RETURN(const absl::string_view prefix, Take(kGrpcPrefixBytes, &stream));
    ASSIGN_OR_RETURN(const uint64_t length, GrpcMessageLength(prefix));
    ASSIGN_OR_RETURN(absl::string_view message, Take(length, &stream));
    ASSIGN_OR_RETURN(const uint64_t tag, TakeVarint(&message));
    if (tag != (kInferResponse << 3 | 2)) return Broken();
    ASSIGN_OR_RETURN(const absl::string_view response, TakeValue(tag & 7, &message));
    ASSIGN_OR_RETURN(const absl::string_view output, SoleRawOutput(response));
    joined.append(output.data(), output.size());
  }
  return joined;
}

absl::StatusOr<absl::string_view> SoleRawOutput(absl::string_view response) {
  absl::string_view found;
  int count = 0;
  while (!response.empty()) {
    ASSIGN_OR_RETURN(const uint64_t tag, TakeVarint(&response));
    ASSIGN_OR_RETURN(const absl::string_view value, TakeValue(tag & 7, &response));
    if (tag >> 3 != kRawOutputContents) continue;
    if ((tag & 7) != 2) return Broken();
    found = value;
    ++count;
  }
  if (count == 1) return found;
  return absl::DataLossError(absl::StrCat(count, " raw outputs, expected 1"));
}

}  // namespace nereid::bench
