// Settings of the allocator linked into the program, and the one function of glibc's that it lacks.
//
// jemalloc reads `malloc_conf`, which the linker therefore exports, before main begins; MALLOC_CONF
// in the environment is read later and wins. A thread of jemalloc returns memory needed by a burst
// of large requests to the system within seconds, and not only when the next request happens to
// arrive. docs/adr/0005 has the comparison. operator new and delete: operators.cc.
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

extern "C" {
__attribute__((visibility("default"))) extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";

// The only allocating function of glibc that jemalloc does not replace: its memory would come from
// glibc and go to jemalloc's free().
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
