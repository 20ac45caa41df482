// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/http2/output_queue.h"

#include <algorithm>
#include <utility>

namespace nereid::http2 {
namespace {

constexpr size_t kKeptBytes = 64 << 10;  // more that is used no longer is freed
constexpr size_t kKeptPieces = 256;

}  // namespace

void OutputQueue::Append(absl::string_view bytes) {
  if (bytes.empty()) return;
  const size_t offset = own_.size();
  own_.append(bytes.data(), bytes.size());
  size_ += bytes.size();
  if (pieces_.size() > front_) {
    Piece& last = pieces_.back();
    if (last.shared == nullptr && last.offset + last.size == offset) {
      last.size += bytes.size();
      return;
    }
  }
  pieces_.push_back({nullptr, offset, bytes.size(), nullptr});
}

void OutputQueue::AppendOwned(std::string bytes) {
  if (!empty() || bytes.capacity() <= own_.capacity()) return Append(absl::string_view(bytes));
  own_ = std::move(bytes);
  size_ = own_.size();
  if (size_ > 0) pieces_.push_back({nullptr, 0, size_, nullptr});
}

void OutputQueue::AppendShared(absl::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({bytes.data(), 0, bytes.size(), std::move(owner)});
}

size_t OutputQueue::Gather(absl::Span<iovec> pieces) const {
  const size_t count = std::min(pieces.size(), pieces_.size() - front_);
  for (size_t i = 0; i < count; ++i) {
    const Piece& piece = pieces_[front_ + i];
    pieces[i].iov_base = const_cast<char*>(DataOf(piece));
    pieces[i].iov_len = piece.size;
  }
  return count;
}

void OutputQueue::Advance(Piece* piece, size_t n) {
  size_ -= n;
  if (piece->shared == nullptr) own_begin_ = piece->offset + n;
  if (n < piece->size) {
    piece->size -= n;
    (piece->shared != nullptr) ? void(piece->shared += n) : void(piece->offset += n);
    return;
  }
  piece->owner.reset();
  ++front_;
}

void OutputQueue::Consume(size_t n) {
  while (n > 0) {
    Piece& piece = pieces_[front_];
    const size_t part = std::min(n, piece.size);
    n -= part;
    Advance(&piece, part);
  }
  Compact();
}

void OutputQueue::MoveTo(OutputQueue* to, size_t n) {
  while (n > 0) {
    Piece& piece = pieces_[front_];
    const size_t part = std::min(n, piece.size);
    n -= part;
    const absl::string_view bytes(DataOf(piece), part);
    if (piece.shared == nullptr) {
      to->Append(bytes);
    } else if (part == piece.size) {
      to->AppendShared(bytes, std::move(piece.owner));
    } else {
      to->AppendShared(bytes, piece.owner);
    }
    Advance(&piece, part);
  }
  Compact();
}

void OutputQueue::Compact() {
  if (empty()) return Clear();
  // A queue that is written to as fast as it is read is never empty. To move what is left costs no
  // more than what has left since the last time did.
  if (own_begin_ > std::max(kKeptBytes, own_.size() / 2)) {
    own_.erase(0, own_begin_);
    for (size_t i = front_; i < pieces_.size(); ++i) {
      if (pieces_[i].shared == nullptr) pieces_[i].offset -= own_begin_;
    }
    own_begin_ = 0;
  }
  if (front_ > std::max(kKeptPieces, pieces_.size() / 2)) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(front_));
    front_ = 0;
  }
}

void OutputQueue::Clear() {
  if (own_.capacity() > kKeptBytes) {
    std::string().swap(own_);
  } else {
    own_.clear();
  }
  if (pieces_.capacity() > kKeptPieces) {
    pieces_ = absl::InlinedVector<Piece, 4>();
  } else {
    pieces_.clear();
  }
  front_ = 0;
  own_begin_ = 0;
  size_ = 0;
}

}  // namespace nereid::http2
