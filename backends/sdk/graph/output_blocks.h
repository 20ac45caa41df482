// SPDX-License-Identifier: Apache-2.0
// OutputBlocks: memory for the results of runs of several requests. The runtime writes a result to
// a block, and the server sends each request's part from there: no copy. A block comes back when
// the last part has been sent. Thread-safe.
#ifndef NEREID_BACKENDS_SDK_GRAPH_OUTPUT_BLOCKS_H_
#define NEREID_BACKENDS_SDK_GRAPH_OUTPUT_BLOCKS_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/sdk/tensor.h"

namespace nereid_backend {

// A block; the last owner gives it back.
using OutputBlock = std::shared_ptr<char>;

class OutputBlocks : public std::enable_shared_from_this<OutputBlocks> {
 public:
  // All blocks are aligned to this.
  static constexpr size_t kAlignment = 64;
  // Smaller parts are copied: that costs less than lending them.
  static constexpr size_t kLeastPart = size_t{16} << 10;
  // A client that reads slowly keeps the block of all requests that ran with its own. Beyond so
  // many blocks results are copied, so that such clients keep only what is theirs.
  static constexpr size_t kMostInUse = 4;
  // Blocks that wait for the next runs.
  static constexpr size_t kMostKept = 2;

  static std::shared_ptr<OutputBlocks> Create() {
    return std::shared_ptr<OutputBlocks>(new OutputBlocks());
  }

  // A block of at least `size` bytes, with undefined content; null if too many are in use.
  OutputBlock Take(size_t size);

  size_t kept() const;

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  struct Memory {
    std::unique_ptr<char, Free> start;
    size_t size = 0;
  };

  OutputBlocks() { kept_.reserve(kMostKept); }  // later, nothing may throw
  // Memory from an earlier run that is not much too large; none: `start` is null.
  Memory TakeKept(size_t size);
  void GiveBack(Memory memory);

  mutable std::mutex mu_;
  size_t in_use_ = 0;         // guarded by mu_
  std::vector<Memory> kept_;  // guarded by mu_; the oldest first
};

// For LendOutput: `part` of `block`, which stays in use until `release` is called.
LentBytes LendPart(const OutputBlock& block, std::string_view part);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GRAPH_OUTPUT_BLOCKS_H_
