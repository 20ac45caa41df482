// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/proto_reader.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>

namespace nereid {
namespace {

constexpr uint32_t kRawInputContents = 7;
constexpr size_t kMaxGroupDepth = 100;     // as in protobuf's parser
constexpr size_t kMaxRawContents = 65536;  // more would only waste memory
constexpr size_t kKeptHeaderBytes = 65536;
constexpr size_t kKeptPieces = 4096;

enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// A position in a message stored in several buffers. Every read fails at the end of the message.
class Cursor {
 public:
  Cursor(absl::Span<const absl::string_view> buffers, uint64_t most_tags)
      : buffers_(buffers), tags_left_(most_tags) {
    for (absl::string_view buffer : buffers) left_ += buffer.size();
    SkipEmpty();
  }

  uint64_t left() const { return left_; }
  // Whether a tag was not read because it was one too many.
  bool out_of_tags() const { return out_of_tags_; }

  // Varints longer than any tag or length are refused. Like protobuf, drops bits of a tag beyond
  // the 32nd.
  bool ReadTag(uint32_t* tag) {
    if (tags_left_ == 0) {
      out_of_tags_ = true;
      return false;
    }
    --tags_left_;
    uint64_t value;
    if (!ReadVarint(5, &value)) return false;
    *tag = static_cast<uint32_t>(value);
    return true;
  }
  bool ReadLength(uint64_t* length) { return ReadVarint(5, length) && *length <= left_; }
  bool SkipVarint() {
    uint64_t value;
    return ReadVarint(10, &value);
  }

  bool Skip(uint64_t count) {
    return Advance(count, [](absl::string_view) {});
  }
  bool Take(uint64_t count, SplitInferRequest::Pieces* pieces) {
    return Advance(count, [pieces](absl::string_view piece) { pieces->push_back(piece); });
  }

 private:
  bool ReadVarint(int max_bytes, uint64_t* value) {
    *value = 0;
    for (int i = 0; i < max_bytes; ++i) {
      if (left_ == 0) return false;
      const auto byte = static_cast<uint8_t>(buffers_[buffer_][position_]);
      Skip(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  template <typename Visit>
  bool Advance(uint64_t count, Visit visit) {
    if (count > left_) return false;
    left_ -= count;
    while (count > 0) {
      const absl::string_view rest = buffers_[buffer_].substr(position_);
      const auto step = static_cast<size_t>(std::min<uint64_t>(count, rest.size()));
      visit(rest.substr(0, step));
      position_ += step;
      count -= step;
      SkipEmpty();
    }
    return true;
  }

  // While anything is left, the cursor stands on a byte.
  void SkipEmpty() {
    while (buffer_ < buffers_.size() && position_ == buffers_[buffer_].size()) {
      ++buffer_;
      position_ = 0;
    }
  }

  absl::Span<const absl::string_view> buffers_;
  size_t buffer_ = 0;
  size_t position_ = 0;
  uint64_t left_ = 0;
  uint64_t tags_left_;
  bool out_of_tags_ = false;
};

bool SkipScalar(Cursor* cursor, uint32_t wire_type) {
  uint64_t length;
  switch (wire_type) {
    case kVarint:
      return cursor->SkipVarint();
    case kFixed64:
      return cursor->Skip(8);
    case kFixed32:
      return cursor->Skip(4);
    case kLengthDelimited:
      return cursor->ReadLength(&length) && cursor->Skip(length);
    default:
      return false;
  }
}

// The fields of a group whose start tag was read, up to its end tag.
bool SkipGroup(Cursor* cursor, uint32_t field) {
  absl::InlinedVector<uint32_t, 4> open = {field};
  while (!open.empty()) {
    uint32_t tag;
    if (!cursor->ReadTag(&tag) || tag >> 3 == 0) return false;
    if ((tag & 7) == kStartGroup) {
      open.push_back(tag >> 3);
      if (open.size() > kMaxGroupDepth) return false;
    } else if ((tag & 7) == kEndGroup) {
      if (open.back() != tag >> 3) return false;
      open.pop_back();
    } else if (!SkipScalar(cursor, tag & 7)) {
      return false;
    }
  }
  return true;
}

bool SkipField(Cursor* cursor, uint32_t tag) {
  return (tag & 7) == kStartGroup ? SkipGroup(cursor, tag >> 3) : SkipScalar(cursor, tag & 7);
}

bool TakeRawContent(Cursor* cursor, SplitInferRequest* split) {
  uint64_t length;
  if (split->raw_contents.size() == kMaxRawContents || !cursor->ReadLength(&length)) return false;
  RawContent content;
  content.byte_size = length;
  content.first_piece = split->raw_pieces.size();
  if (!cursor->Take(length, &split->raw_pieces)) return false;
  content.piece_count = split->raw_pieces.size() - content.first_piece;
  split->raw_contents.push_back(content);
  return true;
}

// All fields, from the first one on. False if one is malformed, or one too many.
bool SplitFields(Cursor* cursor, SplitInferRequest* split) {
  Cursor header_start = *cursor;  // of the fields that were passed but not taken yet
  while (cursor->left() > 0) {
    const uint64_t field_start = cursor->left();
    uint32_t tag;
    if (!cursor->ReadTag(&tag) || tag >> 3 == 0) return false;
    if (tag != (kRawInputContents << 3 | kLengthDelimited)) {
      if (!SkipField(cursor, tag)) return false;
      continue;
    }
    header_start.Take(header_start.left() - field_start, &split->header_pieces);
    if (!TakeRawContent(cursor, split)) return false;
    header_start = *cursor;
  }
  header_start.Take(header_start.left(), &split->header_pieces);
  return true;
}

}  // namespace

uint64_t SplitInferRequest::header_size() const {
  uint64_t size = 0;
  for (absl::string_view piece : header_pieces) size += piece.size();
  return size;
}

uint64_t SplitInferRequest::byte_cost() const {
  const auto cost = [](const auto& list) -> uint64_t {
    const bool inlined = list.capacity() <= 2;
    return inlined ? 0 : list.capacity() * sizeof(list[0]);
  };
  const uint64_t joined = header_pieces.size() > 1 ? header_size() : 0;
  return cost(raw_contents) + cost(raw_pieces) + cost(header_pieces) + joined;
}

void JoinHeader(SplitInferRequest* split) {
  if (split->header_pieces.empty()) return;
  if (split->header_pieces.size() == 1) {
    split->header = split->header_pieces.front();
    return;
  }
  split->header_copy.reserve(split->header_size());
  for (absl::string_view piece : split->header_pieces) {
    split->header_copy.append(piece.data(), piece.size());
  }
  split->header = split->header_copy;
}

void SplitInferRequest::Clear() {
  raw_contents.clear();
  raw_pieces.clear();
  header_pieces.clear();
  header = {};
  header_copy.clear();
  // A list assigned from `{}` would keep its memory.
  if (raw_contents.capacity() > kKeptPieces) raw_contents = absl::InlinedVector<RawContent, 2>();
  if (raw_pieces.capacity() > kKeptPieces) raw_pieces = Pieces();
  if (header_pieces.capacity() > kKeptPieces) header_pieces = Pieces();
  if (header_copy.capacity() > kKeptHeaderBytes) std::string().swap(header_copy);
}

SplitEnd SplitMessage(absl::Span<const absl::string_view> buffers, uint64_t most_fields,
                      SplitInferRequest* split) {
  split->Clear();
  Cursor cursor(buffers, most_fields);
  if (SplitFields(&cursor, split)) return SplitEnd::kWhole;
  return cursor.out_of_tags() ? SplitEnd::kTooManyFields : SplitEnd::kMalformed;
}

}  // namespace nereid
