// SPDX-License-Identifier: Apache-2.0
// What a backend needs of the server for instances on GPUs: the streams and events of a
// GpuPipeline, and blocks of memory.
#ifndef NEREID_BACKENDS_SDK_GPU_WORK_H_
#define NEREID_BACKENDS_SDK_GPU_WORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/sdk/error.h"
#include "backends/sdk/gpu_pipeline.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// The streams and events of an instance of KIND_GPU, by the functions NEREID_Gpu*. UNSUPPORTED if
// the server does not have them.
Result<std::unique_ptr<GpuWork>> MakeGpuWork(TRITONBACKEND_ModelInstance* instance, int slots);

// A block of the server's memory that grows when it has to. Thread-compatible.
class GpuBlock {
 public:
  GpuBlock() = default;
  GpuBlock(const GpuBlock&) = delete;
  GpuBlock& operator=(const GpuBlock&) = delete;
  ~GpuBlock() { Free(); }

  // Makes room for `byte_size` bytes of memory of this type; what was in the block is lost. No copy
  // may use the block.
  Error Reserve(TRITONBACKEND_ModelInstance* instance, TRITONSERVER_MemoryType type, int64_t id,
                size_t byte_size);
  char* data() const { return static_cast<char*>(data_); }
  TRITONSERVER_MemoryType type() const { return type_; }
  int64_t id() const { return id_; }

 private:
  void Free();

  TRITONBACKEND_MemoryManager* manager_ = nullptr;
  TRITONSERVER_MemoryType type_ = TRITONSERVER_MEMORY_CPU;
  int64_t id_ = 0;
  void* data_ = nullptr;
  size_t byte_size_ = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_GPU_WORK_H_
