// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capi/faults/faults.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>
#include <vector>

namespace nereid_test::faults {
namespace {

thread_local Side t_side = Side::kCore;
thread_local uint64_t t_random = 0;

struct Armed {
  std::atomic<int> kind{-1};
  std::atomic<uint64_t> from{0};
  std::atomic<uint64_t> seen{0};
  std::atomic<uint64_t> failed{0};
};
Armed g_armed;
struct Random {
  std::atomic<uint64_t> seed{0};  // 0: off
  std::atomic<uint32_t> allocations{0};
  std::atomic<uint32_t> core_allocations{0};
  std::atomic<uint32_t> threads{0};
  std::atomic<uint32_t> files{0};
  std::atomic<uint32_t> shorts{0};
};
Random g_random;
std::atomic<uint64_t> g_failed{0};
std::atomic<uint64_t> g_threads_seen{0};

// Whether a function of that name is none of the project's: see OwnCodeAsks.
bool IsForeign(const char* function) {
  return strstr(function, "9inference") != nullptr || strstr(function, "8protobuf") != nullptr ||
         strstr(function, "directory_iterator") != nullptr ||
         strstr(function, "remove_all") != nullptr;
}

// Where such functions are in memory, sorted. dladdr() knows those alone that a library exports,
// and the project's libraries export next to nothing.
using Ranges = std::vector<std::pair<uintptr_t, uintptr_t>>;

void AddForeign(const char* elf, uintptr_t base, Ranges* ranges) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(elf);
  const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(elf + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(elf + sections[i].sh_offset);
    const char* const names = elf + sections[sections[i].sh_link].sh_offset;
    for (size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
      const ElfW(Sym)& symbol = symbols[s];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !IsForeign(names + symbol.st_name)) continue;
      ranges->emplace_back(base + symbol.st_value, base + symbol.st_value + symbol.st_size);
    }
  }
}

int AddForeignOf(dl_phdr_info* loaded, size_t /*size*/, void* ranges) {
  const char* const path = loaded->dlpi_name[0] == '\0' ? "/proc/self/exe" : loaded->dlpi_name;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) return 0;  // such as the kernel's
  void* const elf = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (elf != MAP_FAILED) {
    AddForeign(static_cast<const char*>(elf), loaded->dlpi_addr, static_cast<Ranges*>(ranges));
    munmap(elf, status.st_size);
  }
  close(fd);
  return 0;
}

const Ranges& ForeignRanges() {
  static const Ranges* const ranges = [] {
    auto* const found = new Ranges;
    dl_iterate_phdr(AddForeignOf, found);
    std::sort(found->begin(), found->end());
    return found;
  }();
  return *ranges;
}

bool IsForeign(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const Ranges& ranges = ForeignRanges();
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), std::pair(at, UINTPTR_MAX));
  return next != ranges.begin() && at <= std::prev(next)->second;
}

// The first calls allocate, so they are made here, on the main thread.
[[maybe_unused]] const int g_warm = [] {
  t_side = Side::kTest;
  ForeignRanges();
  void* frame[1];
  return backtrace(frame, 1);
}();

bool NameBegins(const char* path, const char* begin) {
  const char* const slash = strrchr(path, '/');
  return strncmp(slash == nullptr ? path : slash + 1, begin, strlen(begin)) == 0;
}

// Whether the project's own code makes the request. That is not so if the stack has a frame of:
// protobuf or a similar library; code that protobuf has generated (a message records its content
// before it is complete, and is then destroyed with garbage in it); the backend for tests, whose
// own threads could not catch an exception; or the C++ library iterating over a directory, whose
// noexcept functions allocate.
bool OwnCodeAsks() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr) continue;
    if (NameBegins(info.dli_fname, "libprotobuf") || NameBegins(info.dli_fname, "libonnxruntime") ||
        NameBegins(info.dli_fname, "libtriton_testing") || NameBegins(info.dli_fname, "ld-linux")) {
      return false;
    }
    if (IsForeign(info.dli_sname == nullptr ? "" : info.dli_sname) || IsForeign(frames[i])) {
      return false;
    }
  }
  return true;
}

bool Draw(const std::atomic<uint32_t>& rate) {
  const uint64_t seed = g_random.seed.load(std::memory_order_relaxed);
  const uint32_t one_in = rate.load(std::memory_order_relaxed);
  if (seed == 0 || one_in == 0) return false;
  if (t_random == 0) t_random = seed * 0x9e3779b97f4a7c15u + ++g_threads_seen;
  t_random ^= t_random << 13;
  t_random ^= t_random >> 7;
  t_random ^= t_random << 17;
  return (t_random >> 11) % one_in == 0;
}

bool ArmedFails(Kind kind) {
  if (g_armed.kind.load(std::memory_order_relaxed) != static_cast<int>(kind)) return false;
  const uint64_t number = ++g_armed.seen;
  if (number < g_armed.from || g_armed.failed != 0) return false;
  const Pause pause;
  uint64_t none = 0;
  return OwnCodeAsks() && g_armed.failed.compare_exchange_strong(none, number);
}

bool Fails(Kind kind, const std::atomic<uint32_t>& rate) {
  if (!ArmedFails(kind)) {
    if (!Draw(rate)) return false;
    const Pause pause;
    if (!OwnCodeAsks()) return false;
  }
  ++g_failed;
  return true;
}

bool FileFails() {
  if (!Draw(g_random.files)) return false;
  ++g_failed;
  return true;
}

// Null if there is no memory, or if the allocation is to fail.
void* Allocate(size_t size, size_t alignment) {
  if (t_side == Side::kWindow && Fails(Kind::kAllocation, g_random.allocations)) return nullptr;
  if (t_side == Side::kCore && Fails(Kind::kCoreAllocation, g_random.core_allocations)) {
    return nullptr;
  }
  if (size == 0) size = 1;
  if (alignment <= alignof(max_align_t)) return malloc(size);
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  void* const memory = Allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void Arm(Kind kind, uint64_t number) {
  g_armed.from = number;
  g_armed.seen = 0;
  g_armed.failed = 0;
  g_armed.kind = static_cast<int>(kind);
}

uint64_t Disarm() {
  g_armed.kind = -1;
  return g_armed.failed;
}

void StartRandom(uint64_t seed, const Rates& rates) {
  g_random.allocations = rates.allocations;
  g_random.core_allocations = rates.core_allocations;
  g_random.threads = rates.threads;
  g_random.files = rates.files;
  g_random.shorts = rates.shorts;
  g_random.seed = seed + 1;
}

bool Short() { return Draw(g_random.shorts); }

void StopRandom() { g_random.seed = 0; }

uint64_t failed() { return g_failed; }

Window::Window() : outer_(t_side) { t_side = Side::kWindow; }
Window::~Window() { t_side = outer_; }
Pause::Pause() : outer_(t_side) { t_side = Side::kTest; }
Pause::~Pause() { t_side = outer_; }

}  // namespace nereid_test::faults

using nereid_test::faults::Allocate;
using nereid_test::faults::AllocateOrThrow;
using nereid_test::faults::Next;

// Not in the preloaded library, which leaves the allocator to the program.
#ifndef NEREID_FAULTS_WITHOUT_ALLOCATIONS
void* operator new(size_t size) { return AllocateOrThrow(size, 1); }
void* operator new[](size_t size) { return AllocateOrThrow(size, 1); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { free(memory); }
#endif

#define NEREID_REPLACES extern "C" __attribute__((visibility("default")))

NEREID_REPLACES int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                   void* (*start)(void*), void* argument) noexcept {
  if (nereid_test::faults::Fails(nereid_test::faults::Kind::kThread,
                                 nereid_test::faults::g_random.threads)) {
    return EAGAIN;
  }
  static const auto real =
      Next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(thread, attributes, start, argument);
}

// Only opening for reading fails, because files opened for writing are logs and sockets.
NEREID_REPLACES int open(const char* path, int flags, ...) {
  if ((flags & O_ACCMODE) == O_RDONLY && nereid_test::faults::FileFails()) {
    errno = EMFILE;
    return -1;
  }
  va_list more;
  va_start(more, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  static const auto real = Next<int(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

NEREID_REPLACES ssize_t read(int file, void* buffer, size_t size) {
  static const auto real = Next<ssize_t(int, void*, size_t)>("read");
  struct stat status;
  if (nereid_test::faults::FileFails() && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    errno = EIO;
    return -1;
  }
  if (size > 1 && nereid_test::faults::Short()) size = (size + 1) / 2;
  return real(file, buffer, size);
}
