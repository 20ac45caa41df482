// InBlocks: the blocks of the in file that the server has passed to this process and that are still
// being read here. The server gets a block back when its last Keeper is gone. Guarded by the GIL.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_IN_BLOCKS_H_
#define NEREID_BACKENDS_PYTHON_WORKER_IN_BLOCKS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "backends/python/worker/python_api.h"

namespace nereid_python::worker {

class InBlocks {
 public:
  using GiveBack = std::function<void(uint64_t block, uint64_t size)>;
  // `give_back` is called once for each block, never within a call of this class.
  explicit InBlocks(GiveBack give_back) : give_back_(std::move(give_back)) {}

  // Keeps the block at offset `block`, which extends at least to offset `end`.
  Keeper Keep(uint64_t block, uint64_t end);
  // The offset of the block that holds all of [offset, offset + size); false if there is none.
  bool Find(uint64_t offset, uint64_t size, uint64_t* block) const;

 private:
  struct Block {
    Block(InBlocks* blocks, uint64_t offset) : blocks(blocks), offset(offset) {}
    ~Block();
    InBlocks* const blocks;
    const uint64_t offset;
    uint64_t end = 0;  // as far as it is known
  };

  const GiveBack give_back_;
  std::map<uint64_t, std::weak_ptr<Block>> blocks_;  // by offset
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_IN_BLOCKS_H_
