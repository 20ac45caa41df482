// SPDX-License-Identifier: Apache-2.0
// Scratch: a buffer that is reused from batch to batch and frees memory when it has been much too
// large for a while, so that one large batch does not hold memory forever. Owned by one thread at a
// time (thread-compatible).
#ifndef NEREID_BACKENDS_SDK_SCRATCH_H_
#define NEREID_BACKENDS_SDK_SCRATCH_H_

#include <cstddef>
#include <memory>

namespace nereid_backend {

class Scratch {
 public:
  // All buffers are aligned to this.
  static constexpr size_t kAlignment = 64;
  // Number of uses after which the capacity is compared with the actual need.
  static constexpr size_t kWindow = 64;

  // A buffer of at least `size` bytes; never null. Its content is undefined, and the buffer of the
  // previous call is invalid.
  char* Reserve(size_t size);

  size_t capacity() const { return capacity_; }

 private:
  void Allocate(size_t size);

  struct Free {
    void operator()(char* buffer) const;
  };
  std::unique_ptr<char, Free> buffer_;
  size_t capacity_ = 0;
  size_t uses_ = 0;  // in the current window
  size_t peak_ = 0;  // largest size requested in the current window
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_SCRATCH_H_
