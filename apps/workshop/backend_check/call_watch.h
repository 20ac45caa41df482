// SPDX-License-Identifier: Apache-2.0
// CallWatch: the calls of the backend that have not returned, and the end of the process when one
// takes too long. Thread-safe; one per process.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_CALL_WATCH_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_CALL_WATCH_H_

#include "base/clock.h"

namespace nereid {

// Starts the thread that looks after the calls: one that takes longer than `limit` is a finding and
// ends the process. Called once, before the first call.
void WatchCalls(Duration limit);

// A call of `function` (a literal), for as long as the object lives.
class WatchedCall {
 public:
  explicit WatchedCall(const char* function);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_CALL_WATCH_H_
