// SPDX-License-Identifier: Apache-2.0
// ShutdownSignals: turns SIGINT and SIGTERM into an event that can be waited for, and SIGHUP into a
// call. One per process,
// created by the main thread, and never destroyed before the process ends.
//
// The signals are caught and not blocked, because backends start processes, which inherit blocked
// and ignored signals but not handlers. docs/adr/0013 says what a backend may expect.
#ifndef NEREID_APPS_NEREID_SIGNALS_H_
#define NEREID_APPS_NEREID_SIGNALS_H_

#include <atomic>
#include <functional>

#include "base/mutex.h"

namespace nereid {

class ShutdownSignals {
 public:
  // Catches the signals and starts a thread that receives them. Until Serving() is called, the
  // first signal ends the process at once, because no request in flight could be lost. Throws
  // std::system_error if the system has no pipe or no thread left.
  ShutdownSignals();

  // The server is running: from now on the first signal makes Wait return. A later SIGINT, sent by
  // an impatient user, ends the process at once. A later SIGTERM changes nothing, because
  // supervisors repeat it. Installs the handlers again, in case a backend replaced them while it
  // was loaded.
  void Serving();
  // Calls `reopen` on the thread of the signals for each SIGHUP; null: no more, also none under way
  // when this returns. Before the first call SIGHUP ends the process, as it ends other programs
  // whose terminal has gone.
  void OnHangup(std::function<void()> reopen) ABSL_LOCKS_EXCLUDED(hangup_mu_);
  // Blocks until a signal arrived; returns its number.
  int Wait();

 private:
  static void Catch();
  void Receive();
  // Makes Wait return. False if an earlier signal already did.
  bool Take(int number);

  int pipe_ = -1;  // the read end; the handler writes to the other end
  std::atomic<bool> serving_{false};
  Mutex hangup_mu_;
  std::function<void()> reopen_ ABSL_GUARDED_BY(hangup_mu_);
  Mutex mu_;
  CondVar changed_;
  int received_ ABSL_GUARDED_BY(mu_) = 0;  // the first one; 0: none yet
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_SIGNALS_H_
