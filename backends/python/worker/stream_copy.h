// SPDX-License-Identifier: Apache-2.0
// Copies of memory that the processor does not keep in its caches. Thread-safe; stateless.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_STREAM_COPY_H_
#define NEREID_BACKENDS_PYTHON_WORKER_STREAM_COPY_H_

#include <cstdint>

namespace nereid_python::worker {

// Copies `size` bytes. If the ranges overlap, as memmove does. Otherwise by stores that do not read
// the destination into a cache first: faster than memmove if it is in none, but slower for whoever
// reads the bytes next if it is in one.
void StreamCopy(char* to, const char* from, uint64_t size);

// Memory that has not been used while this process moved so many bytes is in no cache any more:
// half of the largest cache, since others use it too.
uint64_t BytesUntilCold();

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_STREAM_COPY_H_
