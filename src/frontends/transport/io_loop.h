// SPDX-License-Identifier: Apache-2.0
// IoLoop: one I/O thread with its event loop and the connections that live on it. All work of a
// connection happens on its loop's thread; other threads leave what they have for it there.
//
// Thread-safe, except the methods marked otherwise. Shared by its connections, because a responder
// that is still held may outlive the server.
#ifndef NEREID_FRONTENDS_TRANSPORT_IO_LOOP_H_
#define NEREID_FRONTENDS_TRANSPORT_IO_LOOP_H_

#include <absl/container/flat_hash_set.h>
#include <absl/types/span.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/budget.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/wake_batch.h"
#include "frontends/transport/doorbell.h"
#include "frontends/transport/loop_connection.h"
#include "frontends/transport/socket.h"
#include "frontends/transport/timer_queue.h"
#include "infer/inline_turn.h"

namespace nereid::transport {

class IoLoop;

// Makes the connection of an accepted socket of the loop's io_context. `slot` counts the
// connection. Called on any thread.
using MakeConnection = std::function<std::shared_ptr<LoopConnection>(
    std::shared_ptr<IoLoop> loop, Socket socket, BudgetUnits slot)>;

struct IoLoopOptions {
  Clock* clock = Clock::Real();
  // How often connections are swept while there are any: precise enough for their time-outs, and
  // without a timer per request.
  Duration sweep_interval = std::chrono::seconds(1);

  // The interval for connections whose shortest time-out is `shortest`.
  static Duration SweepInterval(Duration shortest);
};

class IoLoop final : public WakeBatch::Sleeper, public std::enable_shared_from_this<IoLoop> {
 public:
  // Bytes of Scratch().
  static constexpr size_t kScratchBytes = 256 << 10;

  IoLoop(const IoLoopOptions& options, MakeConnection make_connection);
  ~IoLoop() override;

  void Start(const std::string& thread_name);

  // Takes over an accepted socket of this loop's io_context. `slot` counts the connection.
  void Adopt(Socket socket, BudgetUnits slot) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs OnDelivery of `delivery` on the loop's thread. After the end of the loop `delivery` is
  // dropped. The loop's thread is woken now, or at the end of the calling thread's WakeBatch.
  void Deliver(std::shared_ptr<Delivery> delivery) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs `task` on the loop's thread. REQUIRES: Join has not been called.
  void Post(std::function<void()> task);

  // Calls `visit` with each connection there is, on the loop's thread. REQUIRES: as for Post.
  void Visit(std::function<void(LoopConnection*)> visit);
  // From now on connections close when they have nothing in flight.
  void Drain();
  // Waits until no connection is left; false if `deadline` came first.
  bool WaitEmpty(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Closes the remaining connections, cancels running requests, then ends and joins the thread.
  // REQUIRES: not called on an I/O thread.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

  boost::asio::io_context& context() { return context_; }
  Clock* clock() const { return options_.clock; }
  TimePoint Now() const { return options_.clock->Now(); }
  bool InLoop() const;
  // Whether the calling thread belongs to any loop, so that it must do nothing that takes long.
  static bool OnAnyLoop();

  // ---- Loop's thread only.
  bool draining() const { return draining_; }
  InlineTurn* turn() { return &turn_; }
  // Memory to receive into, for those who have used up what they received before they return to the
  // loop.
  absl::Span<char> Scratch();
  // Calls OnEndOfTurn of `connection` when everything of this turn has been done, so that it can
  // send the answers of a turn together. A connection asks once per turn.
  void AtEndOfTurn(std::shared_ptr<LoopConnection> connection) {
    at_end_.push_back(std::move(connection));
  }
  // Calls OnTimer of `timer` at `when`, or soon after. A timer that was started already is moved.
  void StartTimer(Timer* timer, TimePoint when);
  // The `most` connections that have been idle for longest, the longest first.
  struct Idle {
    TimePoint since;
    LoopConnection* connection;
  };
  std::vector<Idle> LongestIdle(size_t most) const;
  // To be called before a timer that was started is destroyed.
  void StopTimer(Timer* timer) { timers_.Remove(timer); }
  void Register(LoopConnection* connection);
  void Unregister(LoopConnection* connection) ABSL_LOCKS_EXCLUDED(mu_);
  // `next` goes on in the place of `previous`: the same client, with another protocol.
  void Replace(LoopConnection* previous, LoopConnection* next) {
    connections_.erase(previous);
    connections_.insert(next);
  }

 private:
  // WakeBatch::Sleeper: the thread has deliveries.
  void Wake() noexcept override ABSL_LOCKS_EXCLUDED(mu_);
  void Run();
  void EndTurn();
  void DrainInbox() ABSL_LOCKS_EXCLUDED(mu_);
  // Has connections swept from now on, as long as there are any.
  void ArmSweep();
  void Sweep();
  // Has the loop's thread wake up for the earliest timer.
  void ArmTimer();
  void RunTimers();
  std::vector<std::shared_ptr<LoopConnection>> Snapshot() const;

  const IoLoopOptions options_;
  const MakeConnection make_connection_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<Executor> work_{context_.get_executor()};
  Doorbell doorbell_{context_, [this] { DrainInbox(); }};
  boost::asio::steady_timer sweep_timer_{context_};
  boost::asio::steady_timer timer_{context_};
  std::thread thread_;

  // Owned by the loop's thread.
  absl::flat_hash_set<LoopConnection*> connections_;
  bool draining_ = false;
  bool ending_ = false;
  bool sweeping_ = false;  // sweep_timer_ is running
  InlineTurn turn_;
  TimerQueue timers_;
  std::optional<TimePoint> armed_for_;  // what timer_ waits for
  std::unique_ptr<char[]> scratch_;
  std::vector<std::shared_ptr<LoopConnection>> at_end_;
  std::vector<std::shared_ptr<LoopConnection>> ending_turn_;  // kept for its memory
  std::vector<std::shared_ptr<Delivery>> delivered_;          // kept for its memory

  Mutex mu_;
  CondVar empty_cv_;
  size_t live_connections_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::shared_ptr<Delivery>> inbox_ ABSL_GUARDED_BY(mu_);
  bool woken_ ABSL_GUARDED_BY(mu_) = false;  // the doorbell has rung, or is about to
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_IO_LOOP_H_
