// ReleaseWatcher: a scheduler that has to know when a backend gives a request back, because only
// then is the request's place free. Thread-safe.
//
// Called by the thread that releases the request, perhaps inside Execute and under a lock of the
// backend. So a watcher must not block, and must not call back.
#ifndef NEREID_INFER_RELEASE_WATCHER_H_
#define NEREID_INFER_RELEASE_WATCHER_H_

#include "infer/request_ptr.h"

namespace nereid {

class ReleaseWatcher {
 public:
  virtual ~ReleaseWatcher() = default;
  // The flight of `request` ends; afterwards its maker has it back.
  virtual void OnRelease(InferRequest* request) = 0;
  // The backend asks to get `request`, which is pending again, once more.
  virtual void OnReschedule(RequestPtr request) = 0;
};

}  // namespace nereid

#endif  // NEREID_INFER_RELEASE_WATCHER_H_
