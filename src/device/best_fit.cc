// SPDX-License-Identifier: Apache-2.0
#include "device/best_fit.h"

#include <algorithm>
#include <iterator>

namespace nereid {

BestFit::BestFit(size_t byte_size) : byte_size_(byte_size / kAlignment * kAlignment) {
  if (byte_size_ > 0) AddFree(0, byte_size_);
}

std::optional<size_t> BestFit::Allocate(size_t byte_size) {
  if (byte_size > byte_size_) return std::nullopt;  // so that rounding up cannot overflow
  const size_t size = (std::max<size_t>(byte_size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto fit = free_sizes_.lower_bound({size, 0});
  if (fit == free_sizes_.end()) return std::nullopt;
  const auto [found, offset] = *fit;
  RemoveFree(free_.find(offset));
  if (found > size) AddFree(offset + size, found - size);
  taken_.emplace(offset, size);
  used_ += size;
  return offset;
}

bool BestFit::Free(size_t offset) {
  const auto taken = taken_.find(offset);
  if (taken == taken_.end()) return false;
  size_t begin = offset, end = offset + taken->second;
  used_ -= taken->second;
  taken_.erase(taken);
  const auto next = free_.lower_bound(begin);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      RemoveFree(before);
    }
  }
  if (next != free_.end() && next->first == end) {
    end += next->second;
    RemoveFree(next);
  }
  AddFree(begin, end - begin);
  return true;
}

size_t BestFit::LargestFree() const {
  return free_sizes_.empty() ? 0 : free_sizes_.rbegin()->first;
}

void BestFit::AddFree(size_t offset, size_t size) {
  free_.emplace(offset, size);
  free_sizes_.emplace(size, offset);
}

void BestFit::RemoveFree(std::map<size_t, size_t>::iterator part) {
  free_sizes_.erase({part->second, part->first});
  free_.erase(part);
}

}  // namespace nereid
