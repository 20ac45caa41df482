// SPDX-License-Identifier: Apache-2.0
// The memory of outputs: one block for each, which the response owns until a Tensor takes it over.
// Thread-safe; knows nothing of Python, because the server allocates on its own threads.
#ifndef NEREID_PYTHON_NATIVE_OUTPUT_MEMORY_H_
#define NEREID_PYTHON_NATIVE_OUTPUT_MEMORY_H_

#include <cstddef>
#include <memory>

#include "triton/core/tritonserver.h"

namespace nereid_python::native {

// The allocator of all requests of this process. Never deleted.
TRITONSERVER_ResponseAllocator* OutputAllocator();

// Takes the memory of an output out of its response: `buffer` and `buffer_userp` are what
// TRITONSERVER_InferenceResponseOutput returned. Null for an output without bytes.
std::shared_ptr<void> TakeOutput(const void* buffer, void* buffer_userp);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_OUTPUT_MEMORY_H_
