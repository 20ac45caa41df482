// SPDX-License-Identifier: Apache-2.0
// RequestPtr: ownership of a request that is in flight. Destroying it is the one and only way a
// request goes back to whoever made it (its release callback runs, from any thread).
// ReleaseWatcher: a scheduler that is told.
#ifndef NEREID_INFER_REQUEST_PTR_H_
#define NEREID_INFER_REQUEST_PTR_H_

#include <memory>

#include "base/export.h"

namespace nereid {

class InferRequest;

struct NEREID_API RequestReleaser {
  void operator()(InferRequest* request) const;
};
using RequestPtr = std::unique_ptr<InferRequest, RequestReleaser>;

// A scheduler that has to know when a backend gives a request back, because only then is the
// request's sequence free to go on. Thread-safe.
//
// Called by the thread that releases the request, perhaps inside Execute and under a lock of the
// backend. So a watcher must not block, and must not call back.
class ReleaseWatcher {
 public:
  virtual ~ReleaseWatcher() = default;
  // The flight of `request` ends; afterwards its maker has it back.
  virtual void OnRelease(InferRequest* request) = 0;
  // The backend asks to get `request`, which is pending again, once more.
  virtual void OnReschedule(RequestPtr request) = 0;
};

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_PTR_H_
