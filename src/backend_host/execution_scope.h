// SPDX-License-Identifier: Apache-2.0
// ExecutionScope: what a thread releases while it is in a backend's Execute comes back when Execute
// has returned.
//
// A released request belongs to its maker, who may free it at once, so a backend must not touch it
// any more. Some do: they report statistics of a request that they have just released, or log its
// id. In Execute, therefore, a release only notes that the backend is done with the request; no
// answer waits for that. A request that another thread releases comes back at once.
//
// Thread-confined: made, used and destroyed by the thread that executes.
#ifndef NEREID_BACKEND_HOST_EXECUTION_SCOPE_H_
#define NEREID_BACKEND_HOST_EXECUTION_SCOPE_H_

#include <cstdint>
#include <vector>

#include "infer/infer_request.h"

namespace nereid {

class ExecutionScope {
 public:
  // A request that the backend has released, with what it said.
  struct Released {
    InferRequest* request;
    uint32_t flags;
  };

  // From here until the end, requests of `lent` that this thread releases are kept in `*released`,
  // which has room for all of them. Both outlive the scope.
  ExecutionScope(const LentBatch* lent, std::vector<Released>* released);
  // Execute has returned: gives the requests back, in the order in which the backend released them.
  ~ExecutionScope();
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

  // Releases `request`, which was lent as a part of `lent` (null: it was not lent), or queues it
  // again if `flags` ask for that: at the end of its execution if this thread is in it, else now.
  // REQUIRES: the caller has claimed it.
  static void Release(InferRequest* request, uint32_t flags, const LentBatch* lent);
  // Whether this thread is in the execution of `lent`.
  static bool IsExecuting(const LentBatch* lent) { return Of(lent) != nullptr; }

 private:
  static ExecutionScope* Of(const LentBatch* lent);

  const LentBatch* const lent_;
  std::vector<Released>* const released_;
  ExecutionScope* const outer_;  // a backend's call may lead to another backend's Execute
};

}  // namespace nereid

#endif  // NEREID_BACKEND_HOST_EXECUTION_SCOPE_H_
