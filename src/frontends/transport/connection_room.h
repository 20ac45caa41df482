// SPDX-License-Identifier: Apache-2.0
// ConnectionRoom: how many connections the descriptors of the process allow, over all ports that
// share it. When it is used up, the clients that have asked for nothing for longest go.
// Thread-safe.
#ifndef NEREID_FRONTENDS_TRANSPORT_CONNECTION_ROOM_H_
#define NEREID_FRONTENDS_TRANSPORT_CONNECTION_ROOM_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/budget.h"
#include "base/mutex.h"

namespace nereid::transport {

class IoLoop;

class ConnectionRoom {
 public:
  // How many connections a process may have that may open `limit` descriptors and has `open`. The
  // rest is kept back, for models, files and ports that do not count.
  static uint64_t MostFor(uint64_t limit, uint64_t open);

  // `most` connections over all ports.
  explicit ConnectionRoom(uint64_t most) : most_(most) {}
  // When it is known what the ports take for themselves.
  void set_most(uint64_t most) { most_.store(most, std::memory_order_relaxed); }
  ConnectionRoom(const ConnectionRoom&) = delete;
  ConnectionRoom& operator=(const ConnectionRoom&) = delete;

  // A port whose connections count, as long as it is a member.
  struct Member {
    const Budget* connections = nullptr;
    std::vector<std::shared_ptr<IoLoop>> loops;
    // Its idle connections go only if others have none: clients of gRPC keep theirs on purpose.
    bool goes_last = false;
  };
  void Join(Member member) ABSL_LOCKS_EXCLUDED(mu_);
  // To be called before the loops of the member with these connections end.
  void Leave(const Budget* connections) ABSL_LOCKS_EXCLUDED(mu_);

  uint64_t most() const { return most_.load(std::memory_order_relaxed); }
  // Whether idle connections should go.
  bool IsFull() const ABSL_LOCKS_EXCLUDED(mu_);
  // Whether nobody went, so that new connections have to be refused. What comes while idle ones are
  // looked for may exceed the limit a little.
  bool IsOver() const ABSL_LOCKS_EXCLUDED(mu_);
  // UNAVAILABLE, with the numbers.
  absl::Status Refusal() const ABSL_LOCKS_EXCLUDED(mu_);

  // Lets the connections go that have been idle for longest: as many as there are too many, and a
  // few more, so that the next clients need no search. `done(gone)` is called on any thread, also
  // this one, or never if the loops end meanwhile.
  void LetIdleGo(std::function<void(size_t gone)> done) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Search;

  uint64_t Used() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void Choose(const std::shared_ptr<Search>& search);

  std::atomic<uint64_t> most_;
  mutable Mutex mu_;
  std::vector<Member> members_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_CONNECTION_ROOM_H_
