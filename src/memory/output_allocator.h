// SPDX-License-Identifier: Apache-2.0
// OutputAllocator: how a frontend chooses the memory for the output tensors of its responses.
// Implementations are thread-safe and outlive every response made with them.
#ifndef NEREID_MEMORY_OUTPUT_ALLOCATOR_H_
#define NEREID_MEMORY_OUTPUT_ALLOCATOR_H_

#include <absl/status/status.h>

#include <cstddef>

#include "base/export.h"
#include "memory/file_memory.h"
#include "model/memory_kind.h"

namespace nereid {

class Budget;
class Holder;

// One buffer. Owned by the response that asked for it until OutputAllocator::Release.
struct OutputBuffer {
  void* base = nullptr;  // may stay null when byte_size is 0
  size_t byte_size = 0;
  MemoryPlace place;      // in: preferred by the backend; out: actual
  void* userp = nullptr;  // private to the allocator
  // In: the client, as the one who holds units; null, or valid until the call returns.
  const std::shared_ptr<Holder>* holder = nullptr;
  // Out: of the buffer's allocation on a GPU; null: unknown.
  std::shared_ptr<const CudaIpcHandle> ipc_handle;
};

// Bytes that a backend lends to a response instead of filling a buffer. `release` is called once
// they are not read any more.
struct LentBytes {
  const void* base = nullptr;
  size_t byte_size = 0;
  void (*release)(void* userp) = nullptr;
  void* userp = nullptr;
};

// Where an output will be, known before there is a response.
struct OutputPlace {
  void* base = nullptr;  // what Allocate will give
  size_t byte_size = 0;  // an output that is larger is refused
  const FileMemory* file = nullptr;
};

class NEREID_API OutputAllocator {
 public:
  virtual ~OutputAllocator() = default;

  // Called before the first output of each response. An error is only logged.
  virtual absl::Status Start(void* allocator_userp) const { return absl::OkStatus(); }
  // Fills base, place and userp of `buffer`, whose byte_size and preferred place are set.
  virtual absl::Status Allocate(const char* tensor_name, void* allocator_userp,
                                OutputBuffer* buffer) const = 0;
  // Runs once for every buffer with a non-null base, when its response is destroyed.
  virtual void Release(const OutputBuffer& buffer) const = 0;
  // Whether Release also accepts buffers of any HeapOutputAllocator.
  virtual bool TakesHeapBuffers() const { return false; }
  // Makes lent bytes the buffer. They count as bytes that Allocate gives, and Release gives them
  // back. UNIMPLEMENTED if the buffer has to be one of the allocator's own. After an error the
  // bytes have not been taken.
  virtual absl::Status Lend(const char* tensor_name, void* allocator_userp, const LentBytes& bytes,
                            OutputBuffer* buffer) const;
  // Where a buffer would be allocated; UNAVAILABLE if the allocator cannot tell. `tensor_name` and
  // `byte_size` may be null.
  virtual absl::Status Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                             MemoryPlace* place) const;
  // Pays for memory of the host in which outputs are made whose buffers are on GPUs; null: nobody.
  virtual Budget* host_budget() const { return nullptr; }
  // The place of an output in memory that other processes can map. Empty `file`: there is none.
  virtual OutputPlace FindPlace(const char* tensor_name, void* allocator_userp) const { return {}; }
};

// Buffers on the process heap, aligned to 64 bytes. They are counted against `budget` (may be null,
// not owned) until they are released. An allocator that `lends` takes bytes of backends, too:
// whoever reads its buffers must bear that a lender changes the bytes meanwhile, as a process with
// which it shares them may do.
class NEREID_API HeapOutputAllocator final : public OutputAllocator {
 public:
  explicit HeapOutputAllocator(Budget* budget, bool lends = false)
      : budget_(budget), lends_(lends) {}
  absl::Status Allocate(const char* tensor_name, void* allocator_userp,
                        OutputBuffer* buffer) const override;
  void Release(const OutputBuffer& buffer) const override;
  bool TakesHeapBuffers() const override { return true; }
  absl::Status Lend(const char* tensor_name, void* allocator_userp, const LentBytes& bytes,
                    OutputBuffer* buffer) const override;
  // Every buffer is in the memory of the process, whatever its name and size.
  absl::Status Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                     MemoryPlace* place) const override;
  Budget* host_budget() const override { return budget_; }

 private:
  Budget* const budget_;
  const bool lends_;
};

}  // namespace nereid

#endif  // NEREID_MEMORY_OUTPUT_ALLOCATOR_H_
