// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/scratch.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace nereid_backend {

void Scratch::Free::operator()(char* buffer) const { std::free(buffer); }

void Scratch::Allocate(size_t size) {
  const size_t rounded = (std::max<size_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded < size) throw std::bad_alloc();
  // Frees the old memory first: its content is not needed, and both may not fit in memory at once.
  buffer_.reset();
  capacity_ = 0;
  buffer_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, rounded)));
  if (buffer_ == nullptr) throw std::bad_alloc();
  capacity_ = rounded;
}

char* Scratch::Reserve(size_t size) {
  peak_ = std::max(peak_, size);
  ++uses_;
  if (size > capacity_ || buffer_ == nullptr) {
    Allocate(size);
  } else if (uses_ >= kWindow) {
    if (peak_ < capacity_ / 2) Allocate(peak_);
    uses_ = 0;
    peak_ = 0;
  }
  return buffer_.get();
}

}  // namespace nereid_backend
