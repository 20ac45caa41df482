#include "frontends/http/transport/io_loop.h"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/io_thread.h"
#include "frontends/http/transport/connection.h"

namespace nereid::http {
namespace {

thread_local const IoLoop* current_loop = nullptr;

constexpr int kMaxHandlersPerTurn = 128;

// How often deadlines are checked: precise enough for time-outs, and without a timer per request.
Duration SweepInterval(const HttpServerOptions& options) {
  const Duration shortest =
      std::min({options.header_timeout, options.stall_timeout, options.idle_timeout});
  return std::clamp<Duration>(shortest / 4, std::chrono::milliseconds(5), std::chrono::seconds(1));
}

}  // namespace

IoLoop::IoLoop(const HttpServerOptions& options, HttpHandler* handler)
    : options_(options), handler_(handler), sweep_interval_(SweepInterval(options)) {}

IoLoop::~IoLoop() = default;

void IoLoop::Start(const std::string& thread_name) {
  thread_ = std::thread([this, thread_name] {
    pthread_setname_np(pthread_self(), thread_name.c_str());
    Run();
  });
}

bool IoLoop::InLoop() const { return current_loop == this; }

void IoLoop::Run() {
  current_loop = this;
  MarkIoThread();
  ArmSweep();
  while (context_.run_one() > 0) {
    // A model that batches is executed once everything that is ready has been read.
    for (int i = 0; turn_.HasDeferred() && i < kMaxHandlersPerTurn; ++i) {
      if (context_.poll_one() == 0) break;
    }
    turn_.End();
  }
}

void IoLoop::Post(std::function<void()> task) { boost::asio::post(context_, std::move(task)); }

void IoLoop::Adopt(Socket socket, BudgetUnits slot) {
  {
    MutexLock lock(&mu_);
    ++live_connections_;
  }
  auto connection =
      std::make_shared<Connection>(shared_from_this(), std::move(socket), std::move(slot));
  if (InLoop()) return connection->Start();
  boost::asio::post(context_, [connection = std::move(connection)] { connection->Start(); });
}

void IoLoop::Deliver(std::shared_ptr<Connection> connection) {
  MutexLock lock(&mu_);
  if (ended_) return;
  inbox_.push_back(std::move(connection));
  // One wake-up serves all responses that arrive until the thread gets to them.
  if (inbox_.size() == 1) boost::asio::post(context_, [this] { DrainInbox(); });
}

void IoLoop::DrainInbox() {
  std::vector<std::shared_ptr<Connection>> ready;
  {
    MutexLock lock(&mu_);
    ready.swap(inbox_);
  }
  for (const auto& connection : ready) connection->OnResponse();
}

void IoLoop::Unregister(Connection* connection) {
  connections_.erase(connection);
  MutexLock lock(&mu_);
  if (--live_connections_ == 0) empty_cv_.NotifyAll();
}

void IoLoop::ArmSweep() {
  sweep_timer_.expires_after(sweep_interval_);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    // A wait that ended before it was cancelled does not report the cancellation.
    if (error || ending_) return;
    Sweep();
    ArmSweep();
  });
}

void IoLoop::Sweep() {
  const TimePoint now = Now();
  for (const auto& connection : Snapshot()) connection->Sweep(now);
}

// Connections come and go during the visit, so it uses a copy.
std::vector<std::shared_ptr<Connection>> IoLoop::Snapshot() const {
  std::vector<std::shared_ptr<Connection>> snapshot;
  snapshot.reserve(connections_.size());
  for (Connection* connection : connections_) snapshot.push_back(connection->shared_from_this());
  return snapshot;
}

void IoLoop::Drain() {
  Post([this] {
    draining_ = true;
    for (const auto& connection : Snapshot()) connection->OnDrain();
  });
}

bool IoLoop::WaitEmpty(TimePoint deadline) {
  MutexLock lock(&mu_);
  while (live_connections_ > 0) {
    if (Now() >= deadline) return false;
    options_.clock->Wait(&empty_cv_, &mu_, deadline);
  }
  return true;
}

void IoLoop::Join() {
  Post([this] {
    draining_ = ending_ = true;
    for (const auto& connection : Snapshot()) connection->Abort();
    sweep_timer_.cancel();
    work_.reset();
  });
  thread_.join();
  std::vector<std::shared_ptr<Connection>> late;
  {
    MutexLock lock(&mu_);
    ended_ = true;
    late.swap(inbox_);
  }
  // A response posted after the thread ended must not keep its connection, and thereby this loop,
  // alive.
  context_.restart();
  context_.poll();
  turn_.End();
}

}  // namespace nereid::http
