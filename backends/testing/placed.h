// SPDX-License-Identifier: Apache-2.0
// Tensors where the server has them, for behaviours on GPUs. Plain values.
#ifndef NEREID_BACKENDS_TESTING_PLACED_H_
#define NEREID_BACKENDS_TESTING_PLACED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/sdk/error.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {

// A piece of a tensor, or all of one.
struct Placed {
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(base); }
  bool on_gpu() const { return type == TRITONSERVER_MEMORY_GPU; }

  void* base = nullptr;
  size_t byte_size = 0;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;  // at first what is asked for
  int64_t id = 0;
};

// The pieces of an input, for an instance on `gpu`.
Result<std::vector<Placed>> PiecesOf(const InputView& input, int32_t gpu);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_TESTING_PLACED_H_
