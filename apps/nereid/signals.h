// ShutdownSignals: turns SIGINT and SIGTERM into something that can be waited for. Made once, by
// the main thread, before any other thread exists (all threads inherit the blocked signals).
#ifndef NEREID_APPS_NEREID_SIGNALS_H_
#define NEREID_APPS_NEREID_SIGNALS_H_

#include <signal.h>

#include <atomic>

namespace nereid {

class ShutdownSignals {
 public:
  // Blocks the signals and starts a thread that receives them. Until Serving() the first one ends
  // the process at once: there is nothing in flight that could be lost.
  ShutdownSignals();

  // The server runs: from now on the first signal makes Wait return, the second ends the process.
  void Serving() { serving_.store(true); }
  // Blocks until a signal arrived; returns its number.
  int Wait();

 private:
  void Receive();

  sigset_t signals_;
  std::atomic<bool> serving_{false};
  std::atomic<int> received_{0};
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SIGNALS_H_
