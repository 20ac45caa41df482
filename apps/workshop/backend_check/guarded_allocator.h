// SPDX-License-Identifier: Apache-2.0
// GuardedAllocator: output buffers that show whether the backend has filled them, and has written
// beyond their end. Thread-safe; outlives the responses.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_GUARDED_ALLOCATOR_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_GUARDED_ALLOCATOR_H_

#include "memory/output_allocator.h"

namespace nereid {

class GuardedAllocator final : public OutputAllocator {
 public:
  absl::Status Allocate(const char* tensor_name, void* allocator_userp,
                        OutputBuffer* buffer) const override;
  void Release(const OutputBuffer& buffer) const override;
  absl::Status Query(const char* tensor_name, void* allocator_userp, size_t* byte_size,
                     MemoryPlace* place) const override;

  // Whether no byte of `buffer` has been written.
  static bool Unwritten(const OutputBuffer& buffer);
  // Whether bytes behind the end of `buffer` have been written.
  static bool Overrun(const OutputBuffer& buffer);
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_GUARDED_ALLOCATOR_H_
