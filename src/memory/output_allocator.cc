#include "memory/output_allocator.h"

#include <absl/strings/str_cat.h>

#include <cstdlib>
#include <new>

#include "base/budget.h"

namespace nereid {
namespace {

constexpr size_t kAlignment = 64;

// Precedes every heap buffer, so that the units are freed together with the bytes.
struct alignas(kAlignment) Header {
  BudgetUnits units;
};

}  // namespace

absl::Status OutputAllocator::Query(const char* tensor_name, void* allocator_userp,
                                    size_t* byte_size, MemoryPlace* place) const {
  return absl::UnavailableError("Output properties are not available");
}

absl::Status HeapOutputAllocator::Allocate(const char* tensor_name, void* allocator_userp,
                                           OutputBuffer* buffer) const {
  buffer->place = MemoryPlace{};
  if (buffer->byte_size == 0) return absl::OkStatus();
  BudgetUnits units;
  if (budget_ != nullptr) {
    absl::StatusOr<BudgetUnits> taken =
        budget_->TakeFairly(buffer->byte_size, 0, ShareUse::kAnswer);
    if (!taken.ok()) return taken.status();
    units = *std::move(taken);
  }
  const size_t total =
      sizeof(Header) + (buffer->byte_size + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = total > buffer->byte_size ? std::aligned_alloc(kAlignment, total) : nullptr;
  if (memory == nullptr) {
    return absl::UnavailableError(absl::StrCat("out of memory: cannot allocate ", buffer->byte_size,
                                               " bytes for output '", tensor_name, "'"));
  }
  Header* header = new (memory) Header{std::move(units)};
  buffer->userp = header;
  buffer->base = header + 1;
  return absl::OkStatus();
}

absl::Status HeapOutputAllocator::Query(const char* tensor_name, void* allocator_userp,
                                        size_t* byte_size, MemoryPlace* place) const {
  *place = MemoryPlace{};
  return absl::OkStatus();
}

void HeapOutputAllocator::Release(const OutputBuffer& buffer) const {
  Header* header = static_cast<Header*>(buffer.userp);
  header->~Header();
  std::free(header);
}

}  // namespace nereid
