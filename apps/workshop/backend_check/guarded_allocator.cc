// SPDX-License-Identifier: Apache-2.0
#include "backend_check/guarded_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace nereid {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kGuard = 256;         // bytes behind the end
constexpr unsigned char kFill = 0xA5;  // what no backend writes by chance
// So few bytes may have this value by chance.
constexpr size_t kChance = 3;

bool AllFill(const void* bytes, size_t count) {
  const auto* const begin = static_cast<const unsigned char*>(bytes);
  return std::all_of(begin, begin + count, [](unsigned char byte) { return byte == kFill; });
}

}  // namespace

absl::Status GuardedAllocator::Allocate(const char* tensor_name, void* allocator_userp,
                                        OutputBuffer* buffer) const {
  buffer->place = MemoryPlace{};
  if (buffer->byte_size == 0) return absl::OkStatus();
  const size_t total = (buffer->byte_size + kGuard + kAlignment - 1) / kAlignment * kAlignment;
  buffer->base = total > buffer->byte_size ? std::aligned_alloc(kAlignment, total) : nullptr;
  if (buffer->base == nullptr) return absl::UnavailableError("out of memory");
  std::memset(buffer->base, kFill, total);
  return absl::OkStatus();
}

void GuardedAllocator::Release(const OutputBuffer& buffer) const { std::free(buffer.base); }

absl::Status GuardedAllocator::Query(const char* tensor_name, void* allocator_userp,
                                     size_t* byte_size, MemoryPlace* place) const {
  *place = MemoryPlace{};
  return absl::OkStatus();
}

bool GuardedAllocator::Unwritten(const OutputBuffer& buffer) {
  return buffer.byte_size > kChance && AllFill(buffer.base, buffer.byte_size);
}

bool GuardedAllocator::Overrun(const OutputBuffer& buffer) {
  return buffer.base != nullptr &&
         !AllFill(static_cast<const char*>(buffer.base) + buffer.byte_size, kGuard);
}

}  // namespace nereid
