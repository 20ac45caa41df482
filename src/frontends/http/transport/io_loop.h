// IoLoop: one I/O thread with its event loop and the connections that live on it. All work of a
// connection happens on its loop's thread; other threads post their requests to it.
//
// Thread-safe, except the methods marked otherwise. Shared by its connections, because a responder
// that is still held may outlive the server.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_IO_LOOP_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_IO_LOOP_H_

#include <absl/container/flat_hash_set.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "frontends/http/http_server.h"
#include "frontends/http/transport/socket.h"
#include "infer/inline_turn.h"

namespace nereid::http {

class Connection;

class IoLoop : public std::enable_shared_from_this<IoLoop> {
 public:
  // `handler` is used only while the thread runs.
  IoLoop(const HttpServerOptions& options, HttpHandler* handler);
  ~IoLoop();

  void Start(const std::string& thread_name);

  // Takes over an accepted socket of this loop's io_context. `slot` counts the connection.
  void Adopt(Socket socket, BudgetUnits slot) ABSL_LOCKS_EXCLUDED(mu_);
  // Makes `connection` pick up its response on the loop's thread. After the end of the loop the
  // response is dropped.
  void Deliver(std::shared_ptr<Connection> connection) ABSL_LOCKS_EXCLUDED(mu_);
  // Runs `task` on the loop's thread. REQUIRES: Join has not been called.
  void Post(std::function<void()> task);

  // From now on connections close when they have nothing in flight.
  void Drain();
  // Waits until no connection is left; false if `deadline` came first.
  bool WaitEmpty(TimePoint deadline) ABSL_LOCKS_EXCLUDED(mu_);
  // Closes the remaining connections, cancels running requests, then ends and joins the thread.
  // REQUIRES: not called on an I/O thread.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

  boost::asio::io_context& context() { return context_; }
  const HttpServerOptions& options() const { return options_; }
  HttpHandler* handler() const { return handler_; }
  TimePoint Now() const { return options_.clock->Now(); }
  bool InLoop() const;
  // Number of clients dropped because they sent or read too slowly.
  uint64_t slow_clients() const { return slow_clients_.load(std::memory_order_relaxed); }

  // Loop's thread only.
  bool draining() const { return draining_; }
  InlineTurn* turn() { return &turn_; }
  void CountSlowClient() { slow_clients_.fetch_add(1, std::memory_order_relaxed); }
  void Register(Connection* connection) { connections_.insert(connection); }
  void Unregister(Connection* connection) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run();
  void DrainInbox() ABSL_LOCKS_EXCLUDED(mu_);
  void ArmSweep();
  void Sweep();
  std::vector<std::shared_ptr<Connection>> Snapshot() const;

  const HttpServerOptions options_;
  HttpHandler* const handler_;
  const Duration sweep_interval_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<Executor> work_{context_.get_executor()};
  boost::asio::steady_timer sweep_timer_{context_};
  std::thread thread_;
  std::atomic<uint64_t> slow_clients_{0};

  // Owned by the loop's thread.
  absl::flat_hash_set<Connection*> connections_;
  bool draining_ = false;
  bool ending_ = false;
  InlineTurn turn_;

  Mutex mu_;
  CondVar empty_cv_;
  size_t live_connections_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::shared_ptr<Connection>> inbox_ ABSL_GUARDED_BY(mu_);
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_IO_LOOP_H_
