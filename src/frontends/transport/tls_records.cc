// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/tls_records.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace nereid::transport {
namespace {

constexpr size_t kSmallCapacity = 4 * 1024;
// A batch, and the record that was begun before it was full.
constexpr size_t kLargeCapacity = UnsentBytes::kBatchBytes + RecordCutter::kRecordBytes + 1024;

}  // namespace

bool UnsentBytes::Append(const char* data, size_t size) {
  const size_t waiting = this->size();
  if (capacity_ - end_ < size) {
    std::unique_ptr<char[]> grown;
    const size_t needed = waiting + size;
    if (needed > capacity_) {
      const size_t capacity = needed <= kSmallCapacity   ? kSmallCapacity
                              : needed <= kLargeCapacity ? kLargeCapacity
                                                         : 2 * needed;
      grown.reset(new (std::nothrow) char[capacity]);
      if (grown == nullptr) return false;
      capacity_ = capacity;
    }
    char* const to = grown == nullptr ? bytes_.get() : grown.get();
    if (waiting > 0) std::memmove(to, this->data(), waiting);
    if (grown != nullptr) bytes_ = std::move(grown);
    begin_ = 0;
    end_ = waiting;
  }
  std::memcpy(bytes_.get() + end_, data, size);
  end_ += size;
  return true;
}

void UnsentBytes::Consume(size_t n) {
  begin_ += n;
  if (begin_ == end_) begin_ = end_ = 0;
}

void UnsentBytes::ReleaseIfEmpty() {
  if (begin_ < end_ || capacity_ <= kSmallCapacity) return;
  bytes_.reset();
  capacity_ = 0;
}

}  // namespace nereid::transport
