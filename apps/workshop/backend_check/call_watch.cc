// SPDX-License-Identifier: Apache-2.0
#include "backend_check/call_watch.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "backend_check/recorder.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(20);

struct Call {
  const char* function = nullptr;
  TimePoint start;
};

struct Calls {
  Mutex mu;
  std::map<const WatchedCall*, Call> running ABSL_GUARDED_BY(mu);
};

Calls& Running() {
  static Calls* const calls = new Calls;  // used until the process has ended
  return *calls;
}

// The function of a call that began before `time`; null if there is none.
const char* OldCall(TimePoint time) {
  Calls& calls = Running();
  MutexLock lock(&calls.mu);
  for (const auto& [key, call] : calls.running) {
    if (call.start < time) return call.function;
  }
  return nullptr;
}

}  // namespace

void WatchCalls(Duration limit) {
  StartThread({.name = "call watch"}, [limit] {
    for (;;) {
      const char* const hanging = OldCall(Clock::Real()->Now() - limit);
      if (hanging != nullptr) {
        const auto seconds = std::chrono::duration<double>(limit).count();
        Recorder::Get().Found("hang",
                              absl::StrCat(hanging, " was still running after ", seconds, " s"));
        Recorder::Get().Done();
        Log::Flush();
        _exit(1);  // nothing can be destroyed: the call still uses it
      }
      std::this_thread::sleep_for(kLook);
    }
  }).detach();
}

WatchedCall::WatchedCall(const char* function) {
  Recorder::Get().Call(function);
  Calls& calls = Running();
  MutexLock lock(&calls.mu);
  calls.running[this] = {function, Clock::Real()->Now()};
}

WatchedCall::~WatchedCall() {
  Calls& calls = Running();
  MutexLock lock(&calls.mu);
  calls.running.erase(this);
}

}  // namespace nereid
