// SPDX-License-Identifier: Apache-2.0
// The sets of categories that a reader finds in the lists of a file. A short list may hold a large
// number, so that its set is much larger than the list: what all sets of a model hold is bounded.
#ifndef NEREID_BACKENDS_FIL_CATEGORIES_H_
#define NEREID_BACKENDS_FIL_CATEGORIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

class CategorySets {
 public:
  // Adds `category` to `set`, one of a model's. INVALID_ARG if there can be no such category,
  // UNSUPPORTED if the model's sets have become too large.
  Error Add(int64_t category, std::vector<uint32_t>* set) {
    if (category < 0 || category >= int64_t{1} << 24) {
      return Error::InvalidArg("one of its categories is not a whole number from 0 to 2^24 - 1");
    }
    const auto word = static_cast<size_t>(category / 32);
    if (set->size() <= word) {
      words_ += word + 1 - set->size();
      if (words_ > kMostWords) {
        return Error::Unsupported("its splits by categories need more than 256 MiB");
      }
      set->resize(word + 1);
    }
    (*set)[word] |= uint32_t{1} << (category % 32);
    return Error();
  }

 private:
  static constexpr size_t kMostWords = size_t{1} << 26;
  size_t words_ = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_FIL_CATEGORIES_H_
