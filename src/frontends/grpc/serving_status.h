// SPDX-License-Identifier: Apache-2.0
// ServingStatus: whether the server serves, as the health service tells it. Never blocks.
// Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_SERVING_STATUS_H_
#define NEREID_FRONTENDS_GRPC_SERVING_STATUS_H_

#include <absl/status/statusor.h>

#include <chrono>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/server.h"

namespace nereid {

class ServingStatus {
 public:
  // How old the answer of Recently may be.
  static constexpr Duration kRecent = std::chrono::milliseconds(50);

  // `server` must outlive this.
  explicit ServingStatus(const Server* server) : server_(server) {}

  // A server that is stopping does not serve.
  static bool Now(const Server& server) {
    const absl::StatusOr<bool> ready = server.IsReady(ReadinessFrom::kLastAnswer);
    return ready.ok() && *ready;
  }
  // The same for those who ask all the time, and perhaps by the thousand: the server, which may
  // have to look at each model, is asked once for all of them.
  bool Recently(TimePoint now) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    if (now >= due_) {
      serves_ = Now(*server_);
      due_ = now + kRecent;
    }
    return serves_;
  }

 private:
  const Server* const server_;
  Mutex mu_;
  TimePoint due_ ABSL_GUARDED_BY(mu_) = TimePoint::min();
  bool serves_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_SERVING_STATUS_H_
