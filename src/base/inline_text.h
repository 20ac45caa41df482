// SPDX-License-Identifier: Apache-2.0
// InlineText<N>: text that lies in the object itself as long as it has at most N bytes, and in
// memory of its own beyond that. Thread-compatible.
#ifndef NEREID_BASE_INLINE_TEXT_H_
#define NEREID_BASE_INLINE_TEXT_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace nereid {

template <size_t N>
class InlineText {
 public:
  InlineText() = default;
  explicit InlineText(absl::string_view text) { Append(text); }
  InlineText(const InlineText&) = delete;
  InlineText& operator=(const InlineText&) = delete;

  size_t size() const { return size_; }
  // Valid until the text is changed.
  absl::string_view view() const {
    return absl::string_view(size_ <= N ? few_ : many_.data(), size_);
  }
  void Append(absl::string_view text) {
    if (text.empty()) return;
    if (size_ + text.size() <= N) {
      std::memcpy(few_ + size_, text.data(), text.size());
    } else {
      if (size_ <= N) many_.assign(few_, size_);
      many_.append(text.data(), text.size());
    }
    size_ += text.size();
  }
  // The memory for texts of up to `size` bytes, so that appending needs no more.
  void Reserve(size_t size) {
    if (size > N) many_.reserve(size);
  }
  // Bytes of memory besides the object.
  size_t memory() const {
    return many_.capacity() > std::string().capacity() ? many_.capacity() : 0;
  }
  // Keeps the memory.
  void Clear() { size_ = 0; }
  // Gives the memory back.
  void Release() {
    size_ = 0;
    std::string().swap(many_);  // assigning an empty one would keep the memory
  }

 private:
  size_t size_ = 0;
  char few_[N];
  std::string many_;  // all of the text, if it has more than N bytes
};

}  // namespace nereid

#endif  // NEREID_BASE_INLINE_TEXT_H_
