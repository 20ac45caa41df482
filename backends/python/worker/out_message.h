// SPDX-License-Identifier: Apache-2.0
// OutMessage: a message in a block of the out file, together with the memory that the server may
// read until it has finished with the message. Freed with the GIL held. A movable value.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_OUT_MESSAGE_H_
#define NEREID_BACKENDS_PYTHON_WORKER_OUT_MESSAGE_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/python/ipc/block_allocator.h"
#include "backends/python/worker/python_api.h"

namespace nereid_python::worker {

class OutMessage {
 public:
  OutMessage() = default;
  // Takes over the block at `offset`, of which `size` bytes are the message and `block_size` are
  // used, and the keepers of those blocks of the in file that the message names (InBlocks::Keep).
  OutMessage(BlockAllocator* blocks, uint64_t offset, uint64_t size, uint64_t block_size,
             std::vector<Keeper> keepers, uint64_t largest_kept)
      : blocks_(blocks),
        offset_(offset),
        size_(size),
        block_size_(block_size),
        keepers_(std::move(keepers)),
        largest_kept_(largest_kept) {}
  OutMessage(OutMessage&& other) noexcept { Swap(&other); }
  OutMessage& operator=(OutMessage&& other) noexcept {
    OutMessage taken(std::move(other));
    Swap(&taken);
    return *this;
  }
  ~OutMessage() {
    if (blocks_ != nullptr) blocks_->Free(offset_);
  }

  bool empty() const { return blocks_ == nullptr; }
  uint64_t offset() const { return offset_; }
  uint64_t size() const { return size_; }
  uint64_t block_size() const { return block_size_; }
  // The size of the largest tensor that is in the in file.
  uint64_t largest_kept() const { return largest_kept_; }
  // Whether nothing in this process refers to those tensors' blocks but this message.
  bool IsSoleOwner() const {
    return std::all_of(keepers_.begin(), keepers_.end(), [this](const Keeper& keeper) {
      return keeper.use_count() == std::count(keepers_.begin(), keepers_.end(), keeper);
    });
  }

 private:
  void Swap(OutMessage* other) {
    std::swap(blocks_, other->blocks_);
    std::swap(offset_, other->offset_);
    std::swap(size_, other->size_);
    std::swap(block_size_, other->block_size_);
    std::swap(keepers_, other->keepers_);
    std::swap(largest_kept_, other->largest_kept_);
  }

  BlockAllocator* blocks_ = nullptr;
  uint64_t offset_ = 0;
  uint64_t size_ = 0;
  uint64_t block_size_ = 0;
  std::vector<Keeper> keepers_;
  uint64_t largest_kept_ = 0;
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_OUT_MESSAGE_H_
