// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/scheduler/block_pool.h"

#include <algorithm>

namespace nereid_backend {
namespace {

uint64_t MixedBits(uint64_t value) {
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  return value ^ (value >> 32);
}

uint64_t HashOfBlock(int32_t parent, std::span<const Token> tokens) {
  uint64_t hash = MixedBits(static_cast<uint64_t>(parent) + 1);
  for (const Token token : tokens) hash = MixedBits(hash + static_cast<uint64_t>(token) + 1);
  return hash;
}

}  // namespace

BlockPool::BlockPool(int32_t blocks, int32_t block_size, bool finds)
    : block_size_(block_size), finds_(finds), blocks_(static_cast<size_t>(blocks)) {
  empty_.reserve(blocks_.size());
  for (int32_t block = blocks - 1; block >= 0; --block) empty_.push_back(block);
}

int32_t BlockPool::FindChild(int32_t parent, uint64_t hash, std::span<const Token> tokens) const {
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    const Block& block = blocks_[static_cast<size_t>(found->second)];
    if (block.parent == parent && std::ranges::equal(block.tokens, tokens)) return found->second;
  }
  return kNone;
}

void BlockPool::Use(int32_t number) {
  Block& block = blocks_[static_cast<size_t>(number)];
  if (block.users++ == 0 && block.findable) unused_.erase(block.in_unused);
}

std::vector<int32_t> BlockPool::Find(std::span<const Token> tokens) {
  std::vector<int32_t> found;
  if (!finds_) return found;
  const auto length = static_cast<size_t>(block_size_);
  int32_t parent = kNone;
  for (size_t begin = 0; begin + length <= tokens.size(); begin += length) {
    const auto piece = tokens.subspan(begin, length);
    parent = FindChild(parent, HashOfBlock(parent, piece), piece);
    if (parent == kNone) break;
    Use(parent);
    found.push_back(parent);
  }
  return found;
}

std::optional<int32_t> BlockPool::Take() {
  if (empty_.empty()) {
    if (unused_.empty()) return std::nullopt;
    Forget(unused_.front());
  }
  const int32_t taken = empty_.back();
  empty_.pop_back();
  blocks_[static_cast<size_t>(taken)].users = 1;
  return taken;
}

void BlockPool::Forget(int32_t number) {
  Block& block = blocks_[static_cast<size_t>(number)];
  unused_.erase(block.in_unused);
  const auto [first, last] = by_hash_.equal_range(block.hash);
  by_hash_.erase(
      std::find_if(first, last, [number](const auto& entry) { return entry.second == number; }));
  block = Block();
  empty_.push_back(number);
}

int32_t BlockPool::Keep(int32_t number, int32_t parent, std::span<const Token> tokens) {
  if (!finds_) return number;
  const uint64_t hash = HashOfBlock(parent, tokens);
  const int32_t same = FindChild(parent, hash, tokens);
  if (same != kNone) {
    Use(same);
    ReleaseOne(number);
    return same;
  }
  Block& block = blocks_[static_cast<size_t>(number)];
  block.findable = true;
  block.parent = parent;
  block.hash = hash;
  block.tokens.assign(tokens.begin(), tokens.end());
  by_hash_.emplace(hash, number);
  return number;
}

void BlockPool::ReleaseOne(int32_t number) {
  Block& block = blocks_[static_cast<size_t>(number)];
  if (--block.users > 0) return;
  if (block.findable) {
    block.in_unused = unused_.insert(unused_.end(), number);
  } else {
    empty_.push_back(number);
  }
}

void BlockPool::Release(std::span<const int32_t> blocks) {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) ReleaseOne(*block);
}

}  // namespace nereid_backend
