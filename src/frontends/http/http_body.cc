#include "frontends/http/http_body.h"

#include <cstring>
#include <new>
#include <utility>

namespace nereid {

std::shared_ptr<HttpBody> HttpBody::Allocate(size_t capacity, size_t aligned_offset,
                                             BudgetUnits units) {
  std::shared_ptr<HttpBody> body(new HttpBody(aligned_offset));
  if (!body->Grow(capacity, std::move(units))) return nullptr;
  return body;
}

HttpBody::~HttpBody() { ::operator delete(block_, std::align_val_t(kAlignment)); }

bool HttpBody::Grow(size_t capacity, BudgetUnits units) {
  const size_t lead = (kAlignment - aligned_offset_ % kAlignment) % kAlignment;
  if (capacity > SIZE_MAX - lead - kPadding) return false;
  auto* block = static_cast<char*>(
      ::operator new(lead + capacity + kPadding, std::align_val_t(kAlignment), std::nothrow));
  if (block == nullptr) return false;
  char* begin = block + lead;
  if (size_ > 0) std::memcpy(begin, begin_, size_);
  std::memset(begin + capacity, 0, kPadding);
  ::operator delete(block_, std::align_val_t(kAlignment));
  block_ = block;
  begin_ = begin;
  capacity_ = capacity;
  units_.push_back(std::move(units));
  return true;
}

}  // namespace nereid
