// SPDX-License-Identifier: Apache-2.0
// pvalloc, the only allocating function of glibc that jemalloc does not replace: its memory would
// come from glibc and go to jemalloc's free(). Thread-safe.
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

extern "C" __attribute__((visibility("default"))) void* pvalloc(size_t size) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t whole = 0;
  if (__builtin_add_overflow(size, page - 1, &whole)) {
    errno = ENOMEM;
    return nullptr;
  }
  return valloc(whole & ~(page - 1));
}
