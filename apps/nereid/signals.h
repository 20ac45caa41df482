// ShutdownSignals: turns SIGINT and SIGTERM into something that can be waited for. One per process,
// made by the main thread, and there until the process ends.
//
// The signals are caught and not blocked: backends start processes, and those inherit blocked and
// ignored signals, but not handlers. docs/adr/0013 says what a backend may expect.
#ifndef NEREID_APPS_NEREID_SIGNALS_H_
#define NEREID_APPS_NEREID_SIGNALS_H_

#include <atomic>

#include "base/mutex.h"

namespace nereid {

class ShutdownSignals {
 public:
  // Catches the signals and starts a thread that receives them. Until Serving() the first one ends
  // the process at once: there is nothing in flight that could be lost. Throws std::system_error
  // when the system has no pipe or no thread left.
  ShutdownSignals();

  // The server runs: from now on the first signal makes Wait return. A SIGINT after it, of somebody
  // who has no patience, ends the process at once; a SIGTERM after it changes nothing, since
  // programs that supervise others repeat it. Catches them again, should a backend have put
  // handlers of its own in place while it was loaded.
  void Serving();
  // Blocks until a signal arrived; returns its number.
  int Wait();

 private:
  static void Catch();
  void Receive();
  // Lets Wait return. False if it was to do so already.
  bool Take(int number);

  int pipe_ = -1;  // where the handler writes to is read from here
  std::atomic<bool> serving_{false};
  Mutex mu_;
  CondVar changed_;
  int received_ ABSL_GUARDED_BY(mu_) = 0;  // the first one; 0: none yet
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SIGNALS_H_
