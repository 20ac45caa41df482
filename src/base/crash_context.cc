#include "base/crash_context.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "base/log.h"

namespace nereid {
namespace {

thread_local const CrashContext* t_context = nullptr;

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
      Put(" inside backend '");
      Put(context->backend_);
      Put("', model '");
      Put(context->model_);
      Put("', function ");
      Put(context->function_);
    } else {
      Put(" outside of any backend call");
    }
    Put("\n");
    raise(signal);  // the handler was installed with SA_RESETHAND
  }
};

CrashContext::CrashContext(const char* backend, const char* model, const char* function)
    : outer_(t_context), backend_(backend), model_(model), function_(function) {
  t_context = this;
}

CrashContext::~CrashContext() { t_context = outer_; }

const char* CrashContext::CurrentModel() { return t_context == nullptr ? "" : t_context->model_; }

void InstallCrashReporter() {
  struct sigaction action = {};
  action.sa_handler = CrashReporter::Handle;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace nereid
