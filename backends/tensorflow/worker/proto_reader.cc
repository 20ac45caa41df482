// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/proto_reader.h"

namespace nereid_tensorflow {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

}  // namespace

bool ProtoReader::Varint(uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 70 && !bytes_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    if (shift < 64) *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool ProtoReader::Skip(uint64_t size) {
  if (size > bytes_.size()) return false;
  payload_ = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

bool ProtoReader::Next() {
  if (!ok_ || bytes_.empty()) return false;
  varint_ = 0;
  payload_ = {};
  uint64_t tag = 0;
  ok_ = Varint(&tag);
  if (!ok_) return false;
  number_ = static_cast<uint32_t>(tag >> 3);
  uint64_t size = 0;
  switch (tag & 7) {
    case kVarint:
      ok_ = Varint(&varint_);
      break;
    case kFixed64:
      ok_ = Skip(8);
      break;
    case kLengthDelimited:
      ok_ = Varint(&size) && Skip(size);
      break;
    case kFixed32:
      ok_ = Skip(4);
      break;
    default:  // groups are obsolete and unused
      ok_ = false;
  }
  return ok_;
}

}  // namespace nereid_tensorflow
