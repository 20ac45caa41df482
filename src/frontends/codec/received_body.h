// SPDX-License-Identifier: Apache-2.0
// ReceivedBody: the bytes of one received message body, in one piece.
//
// The byte at `aligned_offset` is on a 64-byte boundary, so that tensors after a JSON part of known
// length can be used in place. The last byte is followed by kPadding readable bytes, which lets a
// JSON parser read in place. Carries the units of the in-flight byte budget, which return with the
// last reference.
//
// Address space is reserved for a whole body at once, but memory is touched only as bytes arrive:
// the part that may be filled grows with the units that are added.
//
// Owned by the transport while it is filled, then shared and immutable.
#ifndef NEREID_FRONTENDS_CODEC_RECEIVED_BODY_H_
#define NEREID_FRONTENDS_CODEC_RECEIVED_BODY_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "base/budget.h"

namespace nereid {

class ReceivedBody {
  // Only Reserve makes bodies.
  class Key {
    friend class ReceivedBody;
    Key() = default;
  };

 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kPadding = 64;

  // Reserves `capacity` bytes, none of which may be filled yet; null if that fails. The body and
  // its bytes are one piece of memory.
  static std::shared_ptr<ReceivedBody> Reserve(size_t capacity, size_t aligned_offset);
  ReceivedBody(Key, size_t aligned_offset) : aligned_offset_(aligned_offset) {}
  ~ReceivedBody();
  ReceivedBody(const ReceivedBody&) = delete;
  ReceivedBody& operator=(const ReceivedBody&) = delete;

  const char* data() const { return begin_; }
  size_t size() const { return size_; }
  absl::string_view text() const { return absl::string_view(begin_, size_); }

  // ---- Filling, for the creator of the body.
  char* mutable_end() { return begin_ + size_; }
  // Bytes that may be filled now.
  size_t room() const { return granted_ - size_; }
  // REQUIRES: n <= room()
  void Extend(size_t n) { size_ += n; }
  // Fills the room with `bytes`, which may lie in it. REQUIRES: no more than room()
  void Append(absl::string_view bytes) {
    if (bytes.data() != mutable_end()) std::memmove(mutable_end(), bytes.data(), bytes.size());
    Extend(bytes.size());
  }
  // Allows `bytes` more to be filled. `units`, which pay for these bytes and for other costs of the
  // request, are kept. REQUIRES: size() + room() + bytes <= capacity()
  void Grant(size_t bytes, BudgetUnits units) {
    granted_ += bytes;
    units_.Add(std::move(units));
  }
  size_t capacity() const { return capacity_; }
  // Hands over `amount` of the units, which then pay for something else. Not thread-safe.
  BudgetUnits TakeUnits(uint64_t amount) { return units_.Split(amount); }
  // The units held.
  uint64_t charged() const { return units_.amount(); }
  // The client; null if nobody is known, as for a body that is not paid for.
  const std::shared_ptr<Holder>& holder() const { return units_.holder(); }
  // Moves the bytes to a larger place; large bodies without having them twice. False if that fails.
  // REQUIRES: no view of the bytes exists yet; capacity >= this->capacity().
  bool Grow(size_t capacity);
  // All bytes are there: writes the padding.
  void Seal();

 private:
  void FreeGrown();

  const size_t aligned_offset_;
  char* grown_ = nullptr;  // the memory since Grow; null: behind this object
  size_t mapped_ = 0;      // bytes of it; 0: it is on the heap
  char* begin_ = nullptr;
  size_t size_ = 0;
  size_t granted_ = 0;
  size_t capacity_ = 0;
  BudgetUnits units_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_RECEIVED_BODY_H_
