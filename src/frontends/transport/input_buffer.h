// SPDX-License-Identifier: Apache-2.0
// InputBuffer: bytes received and not yet consumed, in one piece. Thread-compatible; owned by a
// connection.
#ifndef NEREID_FRONTENDS_TRANSPORT_INPUT_BUFFER_H_
#define NEREID_FRONTENDS_TRANSPORT_INPUT_BUFFER_H_

#include <absl/types/span.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace nereid::transport {

class InputBuffer {
 public:
  static constexpr size_t kInitialCapacity = 8 * 1024;

  const char* data() const { return bytes_.get() + begin_; }
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }

  // REQUIRES: n <= size()
  void Consume(size_t n) { begin_ += n; }

  // The capacity that Prepare would leave.
  size_t NextCapacity(size_t max_capacity) const {
    const bool full = end_ == capacity_ && (begin_ == 0 || empty());
    if (!full || empty() || capacity_ >= max_capacity) return capacity_;
    return std::min(max_capacity, std::max(kInitialCapacity, 2 * capacity_));
  }
  size_t capacity() const { return capacity_; }
  // Gives back the memory. REQUIRES: empty(), and nothing is being received into it.
  void Release() {
    bytes_.reset();
    begin_ = end_ = capacity_ = 0;
  }

  // Free space to receive into; grows up to `max_capacity` in all. Empty when `max_capacity`
  // bytes are waiting. Stays valid until the next Prepare, also when bytes are consumed.
  absl::Span<char> Prepare(size_t max_capacity) {
    if (empty()) begin_ = end_ = 0;
    const bool full = end_ >= std::min(capacity_, max_capacity);
    if (begin_ > 0 && (full || capacity_ - end_ < capacity_ / 2)) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, size());
      end_ = size();
      begin_ = 0;
    }
    if (end_ == capacity_ && capacity_ < max_capacity) {
      Reallocate(std::min(max_capacity, std::max(kInitialCapacity, 2 * capacity_)));
    }
    const size_t limit = std::min(capacity_, max_capacity);
    return end_ >= limit ? absl::Span<char>() : absl::MakeSpan(bytes_.get() + end_, limit - end_);
  }
  // `n` bytes were received into the space of the last Prepare.
  void Commit(size_t n) { end_ += n; }

 private:
  void Reallocate(size_t capacity) {
    std::unique_ptr<char[]> bytes(new char[capacity]);
    if (!empty()) std::memcpy(bytes.get(), data(), size());
    end_ = size();
    begin_ = 0;
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t capacity_ = 0;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_INPUT_BUFFER_H_
