// SPDX-License-Identifier: Apache-2.0
// Complete type behind TRITONSERVER_ResponseAllocator: an OutputAllocator made of an application's
// callbacks. Owned by the application, which deletes it after the last response made with it.
// Thread-safe once it is in use, if the callbacks are.
#ifndef NEREID_C_API_ALLOCATOR_H_
#define NEREID_C_API_ALLOCATOR_H_

#include "memory/output_allocator.h"
#include "triton/core/tritonserver.h"

struct TRITONSERVER_ResponseAllocator final : public nereid::OutputAllocator {
  TRITONSERVER_ResponseAllocator(TRITONSERVER_ResponseAllocatorAllocFn_t alloc,
                                 TRITONSERVER_ResponseAllocatorReleaseFn_t release,
                                 TRITONSERVER_ResponseAllocatorStartFn_t start)
      : alloc_fn(alloc), release_fn(release), start_fn(start) {}

  absl::Status Start(void* allocator_userp) const override;
  // INTERNAL if the callback succeeds but returns no buffer for a non-empty output.
  absl::Status Allocate(const char* tensor_name, void* allocator_userp,
                        nereid::OutputBuffer* buffer) const override;
  void Release(const nereid::OutputBuffer& buffer) const override;
  absl::Status Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                     nereid::MemoryPlace* place) const override;

  const TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn;
  const TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn;
  const TRITONSERVER_ResponseAllocatorStartFn_t start_fn;  // may be null
  // Set before first use; may be null.
  TRITONSERVER_ResponseAllocatorBufferAttributesFn_t attributes_fn = nullptr;
  TRITONSERVER_ResponseAllocatorQueryFn_t query_fn = nullptr;

 private:
  // Passes a new buffer to the attributes callback, which may give its handle.
  absl::Status Describe(const char* tensor_name, void* allocator_userp,
                        nereid::OutputBuffer* buffer) const;
  // The allocator as passed to the callbacks, which do not change it.
  TRITONSERVER_ResponseAllocator* handle() const {
    return const_cast<TRITONSERVER_ResponseAllocator*>(this);
  }
};

#endif  // NEREID_C_API_ALLOCATOR_H_
