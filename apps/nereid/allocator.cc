// What the allocator that is linked into the program is told, and what it lacks of glibc's.
//
// jemalloc reads `malloc_conf`, which the linker therefore exports, before main begins; MALLOC_CONF
// in the environment comes after it and wins. Memory that a burst of large requests needed is given
// back within seconds, by a thread of jemalloc's own, and not when the next request happens to
// come. docs/adr/0005 has the comparison. operator new and delete: operators.cc.
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

extern "C" {
__attribute__((visibility("default"))) extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";

// The only allocating function of glibc that jemalloc does not replace: its memory would come from
// the one and go to the free() of the other.
__attribute__((visibility("default"))) void* pvalloc(size_t size) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t whole = 0;
  if (__builtin_add_overflow(size, page - 1, &whole)) {
    errno = ENOMEM;
    return nullptr;
  }
  return valloc(whole & ~(page - 1));
}
}
