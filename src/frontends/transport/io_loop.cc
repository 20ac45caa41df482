// SPDX-License-Identifier: Apache-2.0
#include "frontends/transport/io_loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/threads/thread.h"

namespace nereid::transport {
namespace {

thread_local const IoLoop* current_loop = nullptr;

constexpr int kMaxHandlersPerTurn = 128;

}  // namespace

Duration IoLoopOptions::SweepInterval(Duration shortest) {
  return std::clamp<Duration>(shortest / 4, std::chrono::milliseconds(5), std::chrono::seconds(1));
}

IoLoop::IoLoop(const IoLoopOptions& options, MakeConnection make_connection)
    : options_(options), make_connection_(std::move(make_connection)) {}

IoLoop::~IoLoop() = default;

void IoLoop::Start(const std::string& thread_name) {
  thread_ = StartThread({.name = thread_name}, [this] { Run(); });
}

bool IoLoop::InLoop() const { return current_loop == this; }

bool IoLoop::OnAnyLoop() { return current_loop != nullptr; }

void IoLoop::Run() {
  current_loop = this;
  while (context_.run_one() > 0) {
    // Deferred executions run after all that is ready has been read, so that batches are larger.
    for (int i = 0; turn_.HasDeferred() && i < kMaxHandlersPerTurn; ++i) {
      if (context_.poll_one() == 0) break;
    }
    EndTurn();
  }
}

void IoLoop::EndTurn() {
  turn_.End();
  if (at_end_.empty()) return;
  ending_turn_.swap(at_end_);
  for (const auto& connection : ending_turn_) connection->OnEndOfTurn();
  ending_turn_.clear();
}

absl::Span<char> IoLoop::Scratch() {
  if (scratch_ == nullptr) scratch_.reset(new char[kScratchBytes]);
  return absl::MakeSpan(scratch_.get(), kScratchBytes);
}

void IoLoop::Post(std::function<void()> task) { boost::asio::post(context_, std::move(task)); }

void IoLoop::Adopt(Socket socket, BudgetUnits slot) {
  {
    MutexLock lock(&mu_);
    ++live_connections_;
  }
  auto connection = make_connection_(shared_from_this(), std::move(socket), std::move(slot));
  if (InLoop()) return connection->Start();
  boost::asio::post(context_, [connection = std::move(connection)] { connection->Start(); });
}

void IoLoop::Deliver(std::shared_ptr<Delivery> delivery) {
  const bool put_off = WakeBatch::IsOpen();
  std::shared_ptr<IoLoop> self;
  {
    MutexLock lock(&mu_);
    if (ended_) return;
    inbox_.push_back(std::move(delivery));
    // One wake-up serves everything that arrives until the thread gets to it.
    if (woken_) return;
    woken_ = !put_off;
    // The delivery may hold the caller's only reference to this loop, which may end meanwhile.
    self = shared_from_this();
  }
  if (put_off) return WakeBatch::PutOff(self);
  doorbell_.Ring();
}

void IoLoop::Wake() noexcept {
  {
    MutexLock lock(&mu_);
    if (woken_ || inbox_.empty()) return;
    woken_ = true;
  }
  doorbell_.Ring();
}

void IoLoop::DrainInbox() {
  {
    MutexLock lock(&mu_);
    delivered_.swap(inbox_);
    woken_ = false;
  }
  for (const auto& delivery : delivered_) delivery->OnDelivery();
  delivered_.clear();
}

void IoLoop::Unregister(LoopConnection* connection) {
  connections_.erase(connection);
  MutexLock lock(&mu_);
  if (--live_connections_ == 0) empty_cv_.NotifyAll();
}

void IoLoop::Register(LoopConnection* connection) {
  connections_.insert(connection);
  if (!sweeping_) ArmSweep();
}

std::vector<IoLoop::Idle> IoLoop::LongestIdle(size_t most) const {
  std::vector<Idle> idle;
  for (LoopConnection* connection : connections_) {
    if (const auto since = connection->IdleSince()) idle.push_back({*since, connection});
  }
  const auto earlier = [](const Idle& a, const Idle& b) { return a.since < b.since; };
  const size_t count = std::min(most, idle.size());
  std::partial_sort(idle.begin(), idle.begin() + static_cast<ptrdiff_t>(count), idle.end(),
                    earlier);
  idle.resize(count);
  return idle;
}

void IoLoop::ArmSweep() {
  sweeping_ = !connections_.empty();
  if (!sweeping_) return;
  sweep_timer_.expires_after(options_.sweep_interval);
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
  DrainInbox();
}

void IoLoop::StartTimer(Timer* timer, TimePoint when) {
  timers_.Set(timer, when);
  ArmTimer();
}

void IoLoop::ArmTimer() {
  const std::optional<TimePoint> next = timers_.next();
  // A wake-up that turns out to be too early costs less than to put it off each time that the
  // earliest timer is stopped.
  if (!next.has_value() || (armed_for_.has_value() && *armed_for_ <= *next)) return;
  armed_for_ = next;
  timer_.expires_after(std::max(Duration::zero(), *next - Now()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || ending_) return;
    armed_for_.reset();
    RunTimers();
  });
}

void IoLoop::RunTimers() {
  const TimePoint now = Now();
  while (Timer* const due = timers_.TakeDue(now)) due->OnTimer();
  ArmTimer();
}

// Connections come and go during the visit, so it uses a copy.
std::vector<std::shared_ptr<LoopConnection>> IoLoop::Snapshot() const {
  std::vector<std::shared_ptr<LoopConnection>> snapshot;
  snapshot.reserve(connections_.size());
  for (LoopConnection* connection : connections_) {
    snapshot.push_back(connection->shared_from_this());
  }
  return snapshot;
}

void IoLoop::Visit(std::function<void(LoopConnection*)> visit) {
  Post([this, visit = std::move(visit)] {
    for (const auto& connection : Snapshot()) visit(connection.get());
  });
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
    doorbell_.Disconnect();
    sweep_timer_.cancel();
    timer_.cancel();
    work_.reset();
  });
  thread_.join();
  std::vector<std::shared_ptr<Delivery>> late;
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
  at_end_.clear();
}

}  // namespace nereid::transport
