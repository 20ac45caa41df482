#include "backends/python/worker/page_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace nereid_python::worker {

// What the handler reads, on the thread that made the access: nobody touches a mapping before its
// guard begins or after it ends.
struct PageGuard::Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};  // 0: guards nothing
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> damaged{false};
};

struct PageGuard::Handler {
  static std::array<Slot, kMost> slots;
  static struct sigaction previous;
  static size_t page_size;

  static bool Install() {
    page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = Handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGBUS, &action, &previous) == 0;
  }

  // Only async-signal-safe calls.
  static void Handle(int signal, siginfo_t* info, void*) {
    const int saved_errno = errno;
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    if (info->si_code != BUS_ADRERR || !Replace(address)) {
      // The access is repeated, and raises the signal again.
      sigaction(signal, &previous, nullptr);
      if (info->si_code <= 0) raise(signal);  // sent by somebody: nothing would repeat it
    }
    errno = saved_errno;
  }

  // False if no guard has this address.
  static bool Replace(uintptr_t address) {
    for (Slot& slot : slots) {
      const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
      const uintptr_t end = slot.end.load(std::memory_order_acquire);
      if (begin == 0 || address < begin || address >= end) continue;
      const uintptr_t page = address - address % page_size;
      slot.damaged.store(true, std::memory_order_release);
      return syscall(SYS_mmap, page, end - page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != -1;
    }
    return false;
  }
};

std::array<PageGuard::Slot, PageGuard::kMost> PageGuard::Handler::slots;
struct sigaction PageGuard::Handler::previous = {};
size_t PageGuard::Handler::page_size = 0;

bool PageGuard::Begin(void* base, size_t size) {
  static const bool installed = Handler::Install();
  if (!installed) return false;
  for (Slot& slot : Handler::slots) {
    bool expected = false;
    if (!slot.taken.compare_exchange_strong(expected, true)) continue;
    const auto begin = reinterpret_cast<uintptr_t>(base);
    slot.damaged.store(false);
    slot.end.store(begin + size);
    slot.begin.store(begin, std::memory_order_release);
    slot_ = &slot;
    return true;
  }
  return false;
}

void PageGuard::End() {
  if (slot_ == nullptr) return;
  slot_->begin.store(0);
  slot_->taken.store(false, std::memory_order_release);
  slot_ = nullptr;
}

bool PageGuard::damaged() const { return slot_->damaged.load(std::memory_order_acquire); }

}  // namespace nereid_python::worker
