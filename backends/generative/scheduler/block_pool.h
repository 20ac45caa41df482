// SPDX-License-Identifier: Apache-2.0
// BlockPool: the blocks in which attention keeps keys and values, each for the same number of
// tokens. Counts who uses a block, and finds blocks by what they hold: full blocks form a tree of
// prefixes, in which a block follows the one with the tokens before. A full block is never written
// again, so that any number of sequences can read it. Blocks that nobody uses keep what they hold
// until they are needed; the one unused for longest goes first.
//
// Knows tokens and numbers of blocks, not the memory behind them. Thread-compatible.
#ifndef NEREID_BACKENDS_GENERATIVE_SCHEDULER_BLOCK_POOL_H_
#define NEREID_BACKENDS_GENERATIVE_SCHEDULER_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace nereid_backend {

using Token = int64_t;

class BlockPool {
 public:
  static constexpr int32_t kNone = -1;

  // `blocks` blocks for `block_size` tokens each. Without `finds`, nothing is found again.
  BlockPool(int32_t blocks, int32_t block_size, bool finds);

  int32_t block_size() const { return block_size_; }
  size_t size() const { return blocks_.size(); }
  // Blocks that Take could give: they hold nothing, or nobody uses them.
  size_t available() const { return empty_.size() + unused_.size(); }
  // Those among them that can still be found.
  size_t cached() const { return unused_.size(); }

  // The blocks that hold the beginning of `tokens`, as many as there are. The caller uses them from
  // now on.
  std::vector<int32_t> Find(std::span<const Token> tokens);
  // A block for new tokens, which the caller uses from now on; nothing if all are in use.
  std::optional<int32_t> Take();
  // `block`, which the caller uses, is full: it holds `tokens`, and follows `parent` (kNone: it is
  // the first). Returns the block to use from now on: if another one holds the same after the same
  // parent, then that one, and `block` is given back. REQUIRES: the caller uses `parent`, and Keep
  // has returned it.
  int32_t Keep(int32_t block, int32_t parent, std::span<const Token> tokens);
  // The caller does not use these any more, which follow each other in a sequence.
  void Release(std::span<const int32_t> blocks);

 private:
  struct Block {
    int32_t users = 0;
    bool findable = false;
    int32_t parent = kNone;
    uint64_t hash = 0;
    std::vector<Token> tokens;               // of a findable block
    std::list<int32_t>::iterator in_unused;  // if findable and without users
  };

  // The findable block with `tokens` after `parent`, or kNone.
  int32_t FindChild(int32_t parent, uint64_t hash, std::span<const Token> tokens) const;
  void Use(int32_t block);
  void ReleaseOne(int32_t block);
  // Makes a block that nobody uses unfindable.
  void Forget(int32_t block);

  const int32_t block_size_;
  const bool finds_;
  std::vector<Block> blocks_;
  std::vector<int32_t> empty_;
  // Findable blocks without users, longest unused first. A block comes before its parent, because
  // whoever uses a block uses its parents, and Release goes from the last to the first.
  std::list<int32_t> unused_;
  std::unordered_multimap<uint64_t, int32_t> by_hash_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_SCHEDULER_BLOCK_POOL_H_
