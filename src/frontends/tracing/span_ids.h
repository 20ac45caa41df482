// SPDX-License-Identifier: Apache-2.0
// Random ids of spans. Thread-safe.
#ifndef NEREID_FRONTENDS_TRACING_SPAN_IDS_H_
#define NEREID_FRONTENDS_TRACING_SPAN_IDS_H_

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid {

// Any 64 bits. Ids need no secrecy, only to differ from those of all other processes.
uint64_t RandomBits();

template <size_t n>
bool IsZero(const std::array<uint8_t, n>& id) {
  return std::all_of(id.begin(), id.end(), [](uint8_t byte) { return byte == 0; });
}

// Fills `id` with bits of `random` that are not all zero, which would stand for no id.
template <size_t n>
void FillRandom(absl::FunctionRef<uint64_t()> random, std::array<uint8_t, n>* id) {
  static_assert(n % sizeof(uint64_t) == 0);
  do {
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
      const uint64_t bits = random();
      for (size_t j = 0; j < sizeof(bits); ++j) {
        (*id)[i + j] = static_cast<uint8_t>(bits >> (8 * j));
      }
    }
  } while (IsZero(*id));
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_SPAN_IDS_H_
