// SPDX-License-Identifier: Apache-2.0
// ControlClient: a client that waits for a model to be loaded or unloaded. The frontend makes it
// before the request, so that the client may leave at any time. Thread-safe. Shared by the
// frontend's call and the request.
#ifndef NEREID_LIFECYCLE_CONTROL_CLIENT_H_
#define NEREID_LIFECYCLE_CONTROL_CLIENT_H_

#include <memory>

#include "base/export.h"
#include "base/mutex.h"

namespace nereid {

class NEREID_API ControlClient {
 public:
  // The client waits no longer. A request that has not begun ends for this client with CANCELLED,
  // on this thread, and is dropped unless others share it. One that has begun goes on. Does not
  // block.
  void Leave() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class ControlRequests;

  // The client's part of its request.
  class Part {
   public:
    virtual ~Part() = default;
    // Takes the part out of the request. False if the request has begun.
    virtual bool Drop() noexcept = 0;
    // Answers the client, without a lock. REQUIRES: Drop has returned true.
    virtual void AnswerClient() noexcept = 0;
  };

  Mutex mu_;
  bool left_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<Part> part_ ABSL_GUARDED_BY(mu_);  // null: waits for nothing
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_CONTROL_CLIENT_H_
