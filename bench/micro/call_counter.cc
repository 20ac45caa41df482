// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded into the server: counts what a request costs besides computing, with
// the stacks of the callers. ../racetrack/call_counts.py drives it and says whose calls they are.
//
// Counted are calls of the allocator (malloc and its kin; operator new ends there), of
// pthread_mutex_lock and _trylock, of pthread_cond_wait and _signal with their kin, of
// clock_gettime, and of the system calls of an event loop. Not counted are mutexes that a condition
// variable takes back after a wait, absl::Mutex, and atomic operations.
//
// A random sample of the calls is counted, one in kOneIn: to look at a stack takes some
// microseconds, and a server that is slowed down much would, for instance, execute nothing on I/O
// threads any more.
//
// SIGRTMIN+4 starts to count; SIGRTMIN+5 stops, and appends what was counted to the file that
// NEREID_CALL_COUNTS names. Thread-safe.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

// ../racetrack/call_counts.py has the same list.
enum Kind : uint64_t { kAllocation, kLock, kWait, kNotify, kClock, kSystemCall };

constexpr uint64_t kOneIn = 16;
constexpr size_t kFrames = 28;
constexpr size_t kSites = 1 << 15;

// A stack that has led to calls of one kind, and their number.
struct Site {
  std::atomic<uint64_t> key;  // 0: free
  std::atomic<uint64_t> count;
  uint64_t kind;
  uint64_t frames[kFrames];  // return addresses from the innermost on; 0 behind the last
};

Site sites[kSites];
std::atomic<bool> counting{false};
__attribute__((tls_model("initial-exec"))) thread_local bool busy = false;
__attribute__((tls_model("initial-exec"))) thread_local uint64_t dice = 0;

struct Stack {
  uint64_t frames[kFrames] = {};
  size_t size = 0;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* user) {
  auto* const stack = static_cast<Stack*>(user);
  if (stack->size == kFrames) return _URC_END_OF_STACK;
  stack->frames[stack->size++] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

uint64_t KeyOf(Kind kind, const Stack& stack) {
  uint64_t key = 1469598103934665603u ^ kind;
  for (size_t i = 0; i < stack.size; ++i) {
    key = (key ^ stack.frames[i]) * 1099511628211u;
    key ^= key >> 29;
  }
  return key == 0 ? 1 : key;
}

// Whether the call is one of the sample.
bool Chosen() {
  if (dice == 0) dice = reinterpret_cast<uint64_t>(&dice) | 1;
  dice ^= dice << 13;
  dice ^= dice >> 7;
  dice ^= dice << 17;
  return dice % kOneIn == 0;
}

void Count(Kind kind) {
  if (busy || !counting.load(std::memory_order_relaxed) || !Chosen()) return;
  busy = true;  // the unwinder may make calls that are counted, too
  const int error = errno;
  Stack stack;
  _Unwind_Backtrace(&AddFrame, &stack);
  const uint64_t key = KeyOf(kind, stack);
  for (size_t probe = 0; probe < kSites; ++probe) {
    Site& site = sites[(key + probe) % kSites];
    uint64_t present = site.key.load();
    if (present == 0 && site.key.compare_exchange_strong(present, key)) {
      site.kind = kind;
      memcpy(site.frames, stack.frames, sizeof(site.frames));
      present = key;
    }
    if (present == key) {
      site.count.fetch_add(kOneIn);
      break;
    }
  }
  errno = error;
  busy = false;
}

void Start(int) {
  for (Site& site : sites) site.count.store(0);
  counting.store(true);
}

// Writes a record of the fields kind, count, frames for each stack, and a record of zeros. Runs in
// a signal handler.
void Stop(int) {
  if (!counting.exchange(false)) return;
  const int error = errno;
  const char* const path = getenv("NEREID_CALL_COUNTS");
  const int file =
      path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  uint64_t record[2 + kFrames];
  for (const Site& site : sites) {
    if (file < 0 || site.count.load() == 0) continue;
    record[0] = site.kind;
    record[1] = site.count.load();
    memcpy(record + 2, site.frames, sizeof(site.frames));
    if (write(file, record, sizeof(record)) < 0) break;
  }
  memset(record, 0, sizeof(record));
  if (file >= 0 && write(file, record, sizeof(record)) > 0) close(file);
  errno = error;
}

void Handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

__attribute__((constructor)) void Install() {
  Handle(SIGRTMIN + 4, &Start);
  Handle(SIGRTMIN + 5, &Stop);
}

// The function that would be called without this library. `version`: the oldest form of the
// condition variables has the same names.
template <typename Fn>
Fn* Real(std::atomic<Fn*>* known, const char* name, const char* version = nullptr) {
  Fn* real = known->load(std::memory_order_relaxed);
  if (real == nullptr) {
    void* const symbol =
        version == nullptr ? dlsym(RTLD_NEXT, name) : dlvsym(RTLD_NEXT, name, version);
    real = reinterpret_cast<Fn*>(symbol);
    known->store(real, std::memory_order_relaxed);
  }
  return real;
}

}  // namespace

#define COUNTED_VERSION(version, kind, result, name, parameters, arguments) \
  __attribute__((visibility("default"))) result name parameters {           \
    static std::atomic<result(*) parameters> known{nullptr};                \
    Count(kind);                                                            \
    return Real<result parameters>(&known, #name, version) arguments;       \
  }
#define COUNTED(kind, result, name, parameters, arguments) \
  COUNTED_VERSION(nullptr, kind, result, name, parameters, arguments)

extern "C" {
COUNTED(kAllocation, void*, malloc, (size_t size), (size))
COUNTED(kAllocation, void*, calloc, (size_t count, size_t size), (count, size))
COUNTED(kAllocation, void*, realloc, (void* memory, size_t size), (memory, size))
COUNTED(kAllocation, void*, memalign, (size_t alignment, size_t size), (alignment, size))
COUNTED(kAllocation, void*, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
COUNTED(kAllocation, int, posix_memalign, (void** memory, size_t alignment, size_t size),
        (memory, alignment, size))

COUNTED(kLock, int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
COUNTED(kLock, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))

COUNTED_VERSION("GLIBC_2.3.2", kWait, int, pthread_cond_wait,
                (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex))
COUNTED_VERSION("GLIBC_2.3.2", kWait, int, pthread_cond_timedwait,
                (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
                (condition, mutex, until))
COUNTED(kWait, int, pthread_cond_clockwait,
        (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock,
         const timespec* until),
        (condition, mutex, clock, until))
COUNTED_VERSION("GLIBC_2.3.2", kNotify, int, pthread_cond_signal, (pthread_cond_t * condition),
                (condition))
COUNTED_VERSION("GLIBC_2.3.2", kNotify, int, pthread_cond_broadcast, (pthread_cond_t * condition),
                (condition))

COUNTED(kClock, int, clock_gettime, (clockid_t clock, timespec* now), (clock, now))

COUNTED(kSystemCall, int, epoll_wait, (int epoll, epoll_event* events, int most, int timeout),
        (epoll, events, most, timeout))
COUNTED(kSystemCall, int, epoll_ctl, (int epoll, int operation, int file, epoll_event* event),
        (epoll, operation, file, event))
COUNTED(kSystemCall, int, poll, (pollfd * files, nfds_t count, int timeout),
        (files, count, timeout))
COUNTED(kSystemCall, ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size))
COUNTED(kSystemCall, ssize_t, write, (int file, const void* bytes, size_t size),
        (file, bytes, size))
COUNTED(kSystemCall, ssize_t, recv, (int file, void* bytes, size_t size, int flags),
        (file, bytes, size, flags))
COUNTED(kSystemCall, ssize_t, send, (int file, const void* bytes, size_t size, int flags),
        (file, bytes, size, flags))
COUNTED(kSystemCall, ssize_t, recvmsg, (int file, msghdr* message, int flags),
        (file, message, flags))
COUNTED(kSystemCall, ssize_t, sendmsg, (int file, const msghdr* message, int flags),
        (file, message, flags))
}
