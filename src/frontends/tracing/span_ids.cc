// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/span_ids.h"

#include <random>

namespace nereid {

uint64_t RandomBits() {
  static thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

}  // namespace nereid
