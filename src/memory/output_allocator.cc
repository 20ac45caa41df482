// SPDX-License-Identifier: Apache-2.0
#include "memory/output_allocator.h"

#include <absl/strings/str_cat.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "base/budget.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

constexpr size_t kAlignment = 64;

// Precedes every heap buffer, so that the units are freed together with the bytes. Of lent bytes,
// there is only the header.
struct alignas(kAlignment) Header {
  BudgetUnits units;
  void (*release)(void* userp) = nullptr;
  void* lender = nullptr;
};

// For `buffer`, which will have `byte_size` bytes.
absl::Status Charge(Budget* budget, size_t byte_size, const OutputBuffer& buffer,
                    BudgetUnits* units) {
  if (budget == nullptr) return absl::OkStatus();
  absl::StatusOr<BudgetUnits> taken = budget->TakeFor(
      buffer.holder == nullptr ? nullptr : *buffer.holder, byte_size, ShareUse::kAnswer);
  if (taken.ok()) *units = *std::move(taken);
  return taken.status();
}

absl::Status OutOfMemory(size_t byte_size, const char* tensor_name) {
  return absl::UnavailableError(absl::StrCat("out of memory: cannot allocate ", byte_size,
                                             " bytes for output '", tensor_name, "'"));
}

}  // namespace

absl::Status OutputAllocator::Lend(const char* tensor_name, void* allocator_userp,
                                   const LentBytes& bytes, OutputBuffer* buffer) const {
  return absl::UnimplementedError("output buffers are those of the allocator");
}

absl::Status OutputAllocator::Query(const char* tensor_name, void* allocator_userp,
                                    size_t* byte_size, MemoryPlace* place) const {
  return absl::UnavailableError("Output properties are not available");
}

absl::Status HeapOutputAllocator::Allocate(const char* tensor_name, void* allocator_userp,
                                           OutputBuffer* buffer) const {
  buffer->place = MemoryPlace{};
  if (buffer->byte_size == 0) return absl::OkStatus();
  BudgetUnits units;
  RETURN_IF_ERROR(Charge(budget_, buffer->byte_size, *buffer, &units));
  const size_t total =
      sizeof(Header) + (buffer->byte_size + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = total > buffer->byte_size ? std::aligned_alloc(kAlignment, total) : nullptr;
  if (memory == nullptr) return OutOfMemory(buffer->byte_size, tensor_name);
  Header* header = new (memory) Header{std::move(units)};
  buffer->userp = header;
  buffer->base = header + 1;
  return absl::OkStatus();
}

absl::Status HeapOutputAllocator::Lend(const char* tensor_name, void* allocator_userp,
                                       const LentBytes& bytes, OutputBuffer* buffer) const {
  if (!lends_) return OutputAllocator::Lend(tensor_name, allocator_userp, bytes, buffer);
  BudgetUnits units;
  RETURN_IF_ERROR(Charge(budget_, bytes.byte_size, *buffer, &units));
  void* const memory = std::aligned_alloc(kAlignment, sizeof(Header));
  if (memory == nullptr) return OutOfMemory(sizeof(Header), tensor_name);
  buffer->userp = new (memory) Header{std::move(units), bytes.release, bytes.userp};
  buffer->base = const_cast<void*>(bytes.base);
  buffer->byte_size = bytes.byte_size;
  buffer->place = MemoryPlace{};
  return absl::OkStatus();
}

absl::Status HeapOutputAllocator::Query(const char* tensor_name, void* allocator_userp,
                                        size_t* byte_size, MemoryPlace* place) const {
  *place = MemoryPlace{};
  return absl::OkStatus();
}

void HeapOutputAllocator::Release(const OutputBuffer& buffer) const {
  Header* header = static_cast<Header*>(buffer.userp);
  if (header->release != nullptr) header->release(header->lender);
  header->~Header();
  std::free(header);
}

}  // namespace nereid
