// HttpBody: the bytes of one received message body, in one piece.
//
// The byte at `aligned_offset` lies on a 64-byte boundary, so that tensors that follow a JSON
// part of known length can be used where they are. kPadding readable bytes follow the last one,
// which lets a JSON parser read in place. Carries the units of the in-flight byte budget, which
// return with the last reference.
//
// Owned by the transport while it is filled, then shared and immutable.
#ifndef NEREID_FRONTENDS_HTTP_HTTP_BODY_H_
#define NEREID_FRONTENDS_HTTP_HTTP_BODY_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <memory>

#include "base/budget.h"

namespace nereid {

class HttpBody {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kPadding = 64;

  // Room for `capacity` bytes; null when the memory cannot be had. `units` are kept.
  static std::shared_ptr<HttpBody> Allocate(size_t capacity, size_t aligned_offset,
                                            BudgetUnits units);
  ~HttpBody();
  HttpBody(const HttpBody&) = delete;
  HttpBody& operator=(const HttpBody&) = delete;

  const char* data() const { return begin_; }
  size_t size() const { return size_; }
  absl::string_view text() const { return absl::string_view(begin_, size_); }

  // Filling, for the transport only.
  char* mutable_end() { return begin_ + size_; }
  size_t room() const { return capacity_ - size_; }
  // REQUIRES: n <= room()
  void Extend(size_t n) { size_ += n; }
  // Moves the bytes to a larger block. False when the memory cannot be had.
  // REQUIRES: no view of the bytes exists yet; capacity >= size().
  bool Grow(size_t capacity, BudgetUnits units);

 private:
  explicit HttpBody(size_t aligned_offset) : aligned_offset_(aligned_offset) {}

  const size_t aligned_offset_;
  char* block_ = nullptr;
  char* begin_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  absl::InlinedVector<BudgetUnits, 1> units_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_HTTP_BODY_H_
