// SPDX-License-Identifier: Apache-2.0
// BestFit: which parts of a block are free. It knows offsets only, so the block may lie where the
// CPU cannot read. The smallest free part that suffices is taken, and parts that become free join
// their neighbours. Takes logarithmic time. Thread-compatible.
#ifndef NEREID_DEVICE_BEST_FIT_H_
#define NEREID_DEVICE_BEST_FIT_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace nereid {

class BestFit {
 public:
  // What a GPU reads at its best begins at a multiple of this; the driver's own blocks do.
  static constexpr size_t kAlignment = 256;

  // `byte_size` is rounded down to the alignment.
  explicit BestFit(size_t byte_size);

  // The offset of `byte_size` bytes, at a multiple of the alignment; nothing if no free part is
  // large enough. No bytes take as much room as one.
  std::optional<size_t> Allocate(size_t byte_size);
  // False, and nothing changes, if `offset` is not of an allocation.
  bool Free(size_t offset);

  size_t byte_size() const { return byte_size_; }
  // Bytes taken, rounded up to the alignment.
  size_t used() const { return used_; }
  size_t allocations() const { return taken_.size(); }
  // The largest number of bytes that Allocate would give now.
  size_t LargestFree() const;

 private:
  void AddFree(size_t offset, size_t size);
  void RemoveFree(std::map<size_t, size_t>::iterator part);

  const size_t byte_size_;
  size_t used_ = 0;
  std::map<size_t, size_t> taken_;                  // size by offset
  std::map<size_t, size_t> free_;                   // size by offset; no two of them touch
  std::set<std::pair<size_t, size_t>> free_sizes_;  // the same as (size, offset)
};

}  // namespace nereid

#endif  // NEREID_DEVICE_BEST_FIT_H_
