#include "backends/python/worker/in_blocks.h"

#include <algorithm>

namespace nereid_python::worker {

Keeper InBlocks::Keep(uint64_t block, uint64_t end) {
  std::weak_ptr<Block>& known = blocks_[block];
  std::shared_ptr<Block> kept = known.lock();
  if (kept == nullptr) {
    kept = std::make_shared<Block>(this, block);
    known = kept;
  }
  kept->end = std::max(kept->end, end);
  return kept;
}

bool InBlocks::Find(uint64_t offset, uint64_t size, uint64_t* block) const {
  auto next = blocks_.upper_bound(offset);
  if (next == blocks_.begin()) return false;
  const std::shared_ptr<Block> found = std::prev(next)->second.lock();
  if (found == nullptr || offset + size > found->end) return false;
  *block = found->offset;
  return true;
}

InBlocks::Block::~Block() {
  blocks->blocks_.erase(offset);
  blocks->give_back_(offset, end - offset);
}

}  // namespace nereid_python::worker
