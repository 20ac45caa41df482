// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/block_cache.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstring>
#include <new>

#include "backends/pytorch/small_blocks.h"

namespace nereid_backend {
namespace {

// A header before the data contains the block's size; it keeps the alignment that PyTorch needs.
constexpr size_t kHeader = c10::gAlignment;
static_assert(SmallBlocks::kUnit % c10::gAlignment == 0);

bool IsSmall(size_t size) { return size <= SmallBlocks::kMostBlock; }

// Rounds up, so that one block can be reused for slightly different sizes.
size_t RoundUp(size_t size) {
  if (IsSmall(size)) return SmallBlocks::RoundUp(size);
  constexpr size_t kStep = SmallBlocks::kMostBlock / 4;
  return (size + kStep - 1) / kStep * kStep;
}

}  // namespace

BlockCache& BlockCache::Instance() {
  static BlockCache* const cache = new BlockCache();
  return *cache;
}

void BlockCache::Install() {
  constexpr uint8_t kBeforeTheDefault = 1;
  c10::SetCPUAllocator(&Instance(), kBeforeTheDefault);
}

c10::DataPtr BlockCache::allocate(size_t size) {
  const c10::Device kCpu(c10::DeviceType::CPU);
  if (size == 0) return {nullptr, nullptr, &Delete, kCpu};
  constexpr size_t kMost = SIZE_MAX / 2;
  TORCH_CHECK(size < kMost, "out of memory: ", size, " bytes wanted");
  const size_t whole = RoundUp(size + kHeader);
  void* start = Take(whole);
  if (start == nullptr) start = c10::alloc_cpu(whole);  // throws if there is no memory
  std::memcpy(start, &whole, sizeof(whole));
  void* const data = static_cast<char*>(start) + kHeader;
  return {data, data, &Delete, kCpu};
}

c10::DeleterFnPtr BlockCache::raw_deleter() const { return &Delete; }

void BlockCache::copy_data(void* destination, const void* source, size_t size) const {
  default_copy_data(destination, source, size);
}

void BlockCache::Delete(void* data) {
  if (data == nullptr) return;
  Block block{static_cast<char*>(data) - kHeader, 0};
  std::memcpy(&block.size, block.start, sizeof(block.size));
  Instance().Keep(block);
}

void* BlockCache::Take(size_t size) {
  if (!IsSmall(size)) return TakeLarge(size);
  SmallBlocks* const small = SmallBlocks::OfThisThread();
  return small == nullptr ? nullptr : small->Take(size);
}

void* BlockCache::TakeLarge(size_t size) {
  const std::lock_guard<std::mutex> lock(mu_);
  for (auto block = kept_.begin(); block != kept_.end(); ++block) {
    if (block->size != size) continue;
    void* const start = block->start;
    kept_bytes_ -= size;
    kept_.erase(block);
    return start;
  }
  return nullptr;
}

void BlockCache::Keep(Block block) {
  if (!IsSmall(block.size)) return KeepLarge(block);
  if (SmallBlocks* const small = SmallBlocks::OfThisThread()) {
    small->Keep(block.start, block.size);
  } else {
    c10::free_cpu(block.start);
  }
}

// Called by a deleter, so it must not throw: if the list cannot grow, the block is freed.
void BlockCache::KeepLarge(Block block) try {
  std::list<Block> surplus;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    kept_.push_front(block);
    kept_bytes_ += block.size;
    while (kept_bytes_ > kMostKept) {
      kept_bytes_ -= kept_.back().size;
      surplus.splice(surplus.begin(), kept_, std::prev(kept_.end()));
    }
  }
  for (const Block& each : surplus) c10::free_cpu(each.start);
} catch (const std::bad_alloc&) {
  c10::free_cpu(block.start);
}

void BlockCache::Clear() {
  std::list<Block> all;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    all.swap(kept_);
    kept_bytes_ = 0;
  }
  for (const Block& each : all) c10::free_cpu(each.start);
}

size_t BlockCache::kept_bytes() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return kept_bytes_;
}

}  // namespace nereid_backend
