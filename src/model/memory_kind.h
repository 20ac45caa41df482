// SPDX-License-Identifier: Apache-2.0
// Where bytes are stored. Values equal TRITONSERVER_MemoryType. Plain values.
#ifndef NEREID_MODEL_MEMORY_KIND_H_
#define NEREID_MODEL_MEMORY_KIND_H_

#include <array>
#include <cstdint>

namespace nereid {

enum class MemoryType : int { kCpu = 0, kCpuPinned = 1, kGpu = 2 };

struct MemoryPlace {
  MemoryType type = MemoryType::kCpu;
  int64_t id = 0;  // device number for kGpu, otherwise 0

  bool operator==(const MemoryPlace&) const = default;
};

// By which another process finds an allocation on a GPU: CUDA's cudaIpcMemHandle_t.
using CudaIpcHandle = std::array<char, 64>;

}  // namespace nereid

#endif  // NEREID_MODEL_MEMORY_KIND_H_
