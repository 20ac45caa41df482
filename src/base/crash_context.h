// SPDX-License-Identifier: Apache-2.0
// CrashContext: for as long as it lives, records on its thread which foreign code is running, so
// that the crash message and the log can name it. Costs five pointer stores and two tests.
#ifndef NEREID_BASE_CRASH_CONTEXT_H_
#define NEREID_BASE_CRASH_CONTEXT_H_

#include "base/export.h"

namespace nereid {

class NEREID_API CrashContext {
 public:
  // The texts outlive the object.
  // `kind` is what `name` is, "backend"; `model` may be "".
  CrashContext(const char* kind, const char* name, const char* model, const char* function);
  ~CrashContext();
  CrashContext(const CrashContext&) = delete;
  CrashContext& operator=(const CrashContext&) = delete;

  // The model for which foreign code runs on this thread; "" if none does.
  static const char* CurrentModel();

 private:
  const CrashContext* const outer_;
  friend struct CrashReporter;
  const char* const kind_;
  const char* const name_;
  const char* const model_;
  const char* const function_;
};

// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that write one line naming
// the innermost CrashContext of the thread and then let the signal take its course. For
// executables; a library does not install signal handlers.
NEREID_API void InstallCrashReporter();

// Gives the calling thread a stack for these handlers, so that a crash for want of stack is
// reported as well. The first CrashContext of a thread does that, too: only threads that call no
// foreign code need to. Does nothing without a crash reporter, and if the thread has such a stack
// already. The stack goes with the thread.
NEREID_API void PrepareThreadForCrash();

}  // namespace nereid

#endif  // NEREID_BASE_CRASH_CONTEXT_H_
