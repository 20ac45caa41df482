// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/graph/output_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

namespace nereid_backend {

void OutputBlocks::Free::operator()(char* memory) const { std::free(memory); }

OutputBlock OutputBlocks::Take(size_t size) {
  {
    const std::lock_guard lock(mu_);
    if (in_use_ == kMostInUse) return nullptr;
    ++in_use_;
  }
  Memory memory = TakeKept(size);
  if (memory.start == nullptr) {
    memory.size = (std::max<size_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
    if (memory.size >= size) {
      memory.start.reset(static_cast<char*>(std::aligned_alloc(kAlignment, memory.size)));
    }
  }
  char* const start = memory.start.release();
  // Also gives back if there is no memory, or none for the count of owners.
  OutputBlock block(start, [self = shared_from_this(), whole = memory.size](char* returned) {
    self->GiveBack({std::unique_ptr<char, Free>(returned), whole});
  });
  if (start == nullptr) throw std::bad_alloc();
  return block;
}

OutputBlocks::Memory OutputBlocks::TakeKept(size_t size) {
  const std::lock_guard lock(mu_);
  const auto fits = [size](const Memory& kept) {
    return kept.size >= size && kept.size / 2 <= size;
  };
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
  if (found == kept_.rend()) return {};
  Memory memory = std::move(*found);
  kept_.erase(std::prev(found.base()));
  return memory;
}

void OutputBlocks::GiveBack(Memory memory) {
  Memory surplus;
  const std::lock_guard lock(mu_);
  --in_use_;
  if (memory.start == nullptr) return;
  if (kept_.size() == kMostKept) {
    surplus = std::move(kept_.front());
    kept_.erase(kept_.begin());
  }
  kept_.push_back(std::move(memory));
}

size_t OutputBlocks::kept() const {
  const std::lock_guard lock(mu_);
  return kept_.size();
}

LentBytes LendPart(const OutputBlock& block, std::string_view part) {
  return {part, [](void* userp) { delete static_cast<OutputBlock*>(userp); },
          new OutputBlock(block)};
}

}  // namespace nereid_backend
