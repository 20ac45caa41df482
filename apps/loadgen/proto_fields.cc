// SPDX-License-Identifier: Apache-2.0
#include "apps/loadgen/proto_fields.h"

#include <absl/status/status.h>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

absl::Status Broken() { return absl::DataLossError("an answer of another type"); }

absl::StatusOr<absl::string_view> Take(uint64_t size, absl::string_view* bytes) {
  if (size > bytes->size()) return Broken();
  const absl::string_view taken = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return taken;
}

}  // namespace

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

absl::StatusOr<ProtoField> TakeField(absl::string_view* bytes) {
  ASSIGN_OR_RETURN(const uint64_t tag, TakeVarint(bytes));
  ProtoField field;
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<ProtoField::Type>(tag & 7);
  uint64_t size = 0;
  switch (field.type) {
    case ProtoField::kVarint: {
      ASSIGN_OR_RETURN(field.varint, TakeVarint(bytes));
      return field;
    }
    case ProtoField::kFixed64:
      size = 8;
      break;
    case ProtoField::kBytes: {
      ASSIGN_OR_RETURN(size, TakeVarint(bytes));
      break;
    }
    case ProtoField::kFixed32:
      size = 4;
      break;
    default:
      return Broken();
  }
  ASSIGN_OR_RETURN(field.bytes, Take(size, bytes));
  return field;
}

}  // namespace nereid::bench
