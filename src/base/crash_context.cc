// SPDX-License-Identifier: Apache-2.0
#include "base/crash_context.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>

#include "base/log.h"

namespace nereid {
namespace {

thread_local const CrashContext* t_context = nullptr;

std::atomic<bool> g_installed{false};

// The stack on which the handlers run, below which lies a page that nobody can use.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t present;
    // Sanitizers and embedding programs give their threads one.
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t least = static_cast<size_t>(std::max<long>(sysconf(_SC_SIGSTKSZ), kLeastBytes));
    bytes_ = page + (least + page - 1) / page * page;
    void* const memory = mmap(nullptr, bytes_, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<char*>(memory);
    stack_t own = {};
    own.ss_sp = memory_ + page;
    own.ss_size = bytes_ - page;
    if (mprotect(own.ss_sp, own.ss_size, PROT_READ | PROT_WRITE) == 0) sigaltstack(&own, nullptr);
  }
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    stack_t present;
    if (sigaltstack(nullptr, &present) != 0) return;
    const auto* const begin = static_cast<char*>(present.ss_sp);
    if (begin >= memory_ && begin < memory_ + bytes_) {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      if (sigaltstack(&none, nullptr) != 0) return;
    }
    munmap(memory_, bytes_);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr long kLeastBytes = 32 << 10;

  char* memory_ = nullptr;
  size_t bytes_ = 0;
};

thread_local bool t_prepared = false;

// Only async-signal-safe calls are allowed from here on.
void Put(const char* text) {
  // The process must end although nobody may read its standard error.
  pollfd room = {STDERR_FILENO, POLLOUT, 0};
  constexpr int kPatienceMs = 500;
  if (poll(&room, 1, kPatienceMs) != 1) return;
  const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
}

const char* SignalName(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV (invalid memory access)";
    case SIGBUS:
      return "SIGBUS (invalid memory access)";
    case SIGFPE:
      return "SIGFPE (arithmetic error)";
    case SIGILL:
      return "SIGILL (invalid instruction)";
    case SIGABRT:
      return "SIGABRT (abort)";
    default:
      return "fatal signal";
  }
}

}  // namespace

struct CrashReporter {
  static void Handle(int signal) {
    log_internal::AwaitLines();  // what led here comes before
    Put("\nnereid: the process is ending by ");
    Put(SignalName(signal));
    if (const CrashContext* context = t_context; context != nullptr) {
      Put(" inside ");
      Put(context->kind_);
      Put(" '");
      Put(context->name_);
      if (*context->model_ != '\0') {
        Put("', model '");
        Put(context->model_);
      }
      Put("', function ");
      Put(context->function_);
    } else {
      Put(" outside of any backend call");
    }
    Put("\n");
    raise(signal);  // the handler was installed with SA_RESETHAND
  }
};

void PrepareThreadForCrash() {
  if (t_prepared || !g_installed.load(std::memory_order_relaxed)) return;
  t_prepared = true;
  static thread_local const HandlerStack stack;
}

CrashContext::CrashContext(const char* kind, const char* name, const char* model,
                           const char* function)
    : outer_(t_context), kind_(kind), name_(name), model_(model), function_(function) {
  PrepareThreadForCrash();
  t_context = this;
}

CrashContext::~CrashContext() { t_context = outer_; }

const char* CrashContext::CurrentModel() { return t_context == nullptr ? "" : t_context->model_; }

void InstallCrashReporter() {
  struct sigaction action = {};
  action.sa_handler = CrashReporter::Handle;
  action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
  g_installed.store(true);
  PrepareThreadForCrash();
}

}  // namespace nereid
