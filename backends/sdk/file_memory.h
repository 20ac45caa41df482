// SPDX-License-Identifier: Apache-2.0
// Tensors in files that other processes can map, too: the system shared memory of clients
// (include/nereid/backend.h). On a server that does not say where they are, there are none.
// Stateless; thread-safe.
#ifndef NEREID_BACKENDS_SDK_FILE_MEMORY_H_
#define NEREID_BACKENDS_SDK_FILE_MEMORY_H_

#include <cstdint>
#include <optional>

#include "backends/sdk/tensor.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// Bytes of this process that are bytes of a file.
struct FileMemory {
  int descriptor = -1;  // belongs to the server
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;
  char* data = nullptr;
};

// The file that holds the whole input; valid until the request is released. Empty if there is none,
// or if the input is in pieces.
std::optional<FileMemory> FileMemoryOf(const InputView& input);
// Where the server wants an output of the request, if that is in a file; valid until the final
// response is sent.
std::optional<FileMemory> FileMemoryOf(TRITONBACKEND_Request* request, const char* output);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_FILE_MEMORY_H_
