// SPDX-License-Identifier: Apache-2.0
#include "plain/page_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace nereid {

// What the handler reads. It runs on the thread that made the access, so atomics are all it needs:
// the mapping is guarded before anybody gets to know its address, and longer than anybody uses it.
struct PageGuard::Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};  // 0: guards nothing
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> damaged{false};
};

// Only async-signal-safe calls are allowed in its functions but Install.
struct PageGuard::Handler {
  static std::array<Slot, kMaxGuards> slots;
  static std::atomic<size_t> slots_used;  // slots from here on were never taken
  static struct sigaction previous;
  static size_t page_bytes;

  static bool Install() {
    page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = Handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGBUS, &action, &previous) == 0;
  }

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
    const size_t used = slots_used.load(std::memory_order_acquire);
    for (size_t i = 0; i < used; ++i) {
      Slot& slot = slots[i];
      const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
      const uintptr_t end = slot.end.load(std::memory_order_acquire);
      if (begin == 0 || address < begin || address >= end) continue;
      const uintptr_t page = address - address % page_bytes;
      slot.damaged.store(true, std::memory_order_release);
      // The system call itself: a sanitizer's wrapper is not made for signal handlers.
      return syscall(SYS_mmap, page, end - page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != -1;
    }
    return false;
  }
};

std::array<PageGuard::Slot, PageGuard::kMaxGuards> PageGuard::Handler::slots;
std::atomic<size_t> PageGuard::Handler::slots_used{0};
struct sigaction PageGuard::Handler::previous = {};
size_t PageGuard::Handler::page_bytes = 0;

PageGuard::Slot* PageGuard::TakeSlot() {
  for (size_t i = 0; i < kMaxGuards; ++i) {
    Slot& slot = Handler::slots[i];
    bool expected = false;
    if (!slot.taken.compare_exchange_strong(expected, true)) continue;
    size_t used = Handler::slots_used.load();
    while (used <= i && !Handler::slots_used.compare_exchange_weak(used, i + 1)) continue;
    return &slot;
  }
  return nullptr;
}

std::optional<PageGuard> PageGuard::Make(void* base, size_t size) {
  static const int failure = Handler::Install() ? 0 : errno;
  Slot* const slot = failure == 0 ? TakeSlot() : nullptr;
  if (slot == nullptr) {
    errno = failure == 0 ? ENOMEM : failure;
    return std::nullopt;
  }
  const auto begin = reinterpret_cast<uintptr_t>(base);
  slot->damaged.store(false);
  slot->end.store(begin + size);
  slot->begin.store(begin, std::memory_order_release);
  return PageGuard(slot);
}

PageGuard::PageGuard(PageGuard&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}

PageGuard& PageGuard::operator=(PageGuard&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

PageGuard::~PageGuard() {
  if (slot_ == nullptr) return;
  slot_->begin.store(0);
  slot_->taken.store(false, std::memory_order_release);
}

bool PageGuard::damaged() const { return slot_->damaged.load(std::memory_order_acquire); }

}  // namespace nereid
