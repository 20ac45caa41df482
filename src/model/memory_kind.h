// SPDX-License-Identifier: Apache-2.0
// Where bytes are stored. Values equal TRITONSERVER_MemoryType. Plain values.
#ifndef NEREID_MODEL_MEMORY_KIND_H_
#define NEREID_MODEL_MEMORY_KIND_H_

#include <cstdint>

namespace nereid {

enum class MemoryType : int { kCpu = 0, kCpuPinned = 1, kGpu = 2 };

struct MemoryPlace {
  MemoryType type = MemoryType::kCpu;
  int64_t id = 0;  // device number for kGpu, otherwise 0

  bool operator==(const MemoryPlace&) const = default;
};

}  // namespace nereid

#endif  // NEREID_MODEL_MEMORY_KIND_H_
