// SPDX-License-Identifier: Apache-2.0
// Door: holds threads until it is opened. Thread-safe.
#ifndef NEREID_BASE_TESTING_DOOR_H_
#define NEREID_BASE_TESTING_DOOR_H_

#include "base/mutex.h"

namespace nereid {

class Door {
 public:
  void Pass() {
    MutexLock lock(&mu_);
    ++waiting_;
    changed_.NotifyAll();
    while (!open_) changed_.Wait(&mu_);
  }
  void AwaitWaiting(int count) {
    MutexLock lock(&mu_);
    while (waiting_ < count) changed_.Wait(&mu_);
  }
  void Open() {
    MutexLock lock(&mu_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_BASE_TESTING_DOOR_H_
