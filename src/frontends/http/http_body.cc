#include "frontends/http/http_body.h"

#include <cstring>
#include <new>

namespace nereid {

std::shared_ptr<HttpBody> HttpBody::Reserve(size_t capacity, size_t aligned_offset) {
  std::shared_ptr<HttpBody> body(new HttpBody(aligned_offset));
  if (!body->Grow(capacity)) return nullptr;
  return body;
}

HttpBody::~HttpBody() { ::operator delete(block_, std::align_val_t(kAlignment)); }

bool HttpBody::Grow(size_t capacity) {
  const size_t lead = (kAlignment - aligned_offset_ % kAlignment) % kAlignment;
  if (capacity > SIZE_MAX - lead - kPadding) return false;
  auto* block = static_cast<char*>(
      ::operator new(lead + capacity + kPadding, std::align_val_t(kAlignment), std::nothrow));
  if (block == nullptr) return false;
  char* begin = block + lead;
  if (size_ > 0) std::memcpy(begin, begin_, size_);
  ::operator delete(block_, std::align_val_t(kAlignment));
  block_ = block;
  begin_ = begin;
  capacity_ = capacity;
  return true;
}

void HttpBody::Seal() { std::memset(begin_ + size_, 0, kPadding); }

}  // namespace nereid
