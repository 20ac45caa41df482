#include "frontends/grpc/stream_flow.h"

#include <utility>

#include "base/wake_batch.h"

namespace nereid {

void StreamFlow::BeginRequest() {
  MutexLock lock(&mu_);
  ++open_requests_;
  ++requests_;
}

StreamFlow::Action StreamFlow::RequestGone() {
  MutexLock lock(&mu_);
  --requests_;
  Action action;
  action.read = ResumeReading();
  return action;
}

int64_t StreamFlow::requests() const {
  MutexLock lock(&mu_);
  return requests_;
}

StreamFlow::Order::Ticket StreamFlow::TakePlace() {
  MutexLock lock(&mu_);
  return order_.Add();
}

StreamFlow::Action StreamFlow::EndRequest() {
  MutexLock lock(&mu_);
  --open_requests_;
  return Next();
}

StreamFlow::Action StreamFlow::Send(MessagePtr message) {
  MutexLock lock(&mu_);
  if (broken_) return Action();
  Queue(std::move(message));
  return Next();
}

StreamFlow::Action StreamFlow::SendInOrder(Order::Ticket ticket, MessagePtr message) {
  MutexLock lock(&mu_);
  if (broken_) return Action();
  // Runs inside Complete, under the lock.
  const auto queue = [this](MessagePtr ready)
                         ABSL_NO_THREAD_SAFETY_ANALYSIS { Queue(std::move(ready)); };
  order_.Complete(ticket, std::move(message), queue);
  return Next();
}

StreamFlow::Action StreamFlow::Written(bool ok) {
  Dropped dropped;  // declared before the lock, so destroyed after it
  MessagePtr written;
  MutexLock lock(&mu_);
  writing_ = false;
  written = std::move(ready_.front());
  ready_.pop_front();
  ready_bytes_ -= written->byte_size;
  if (written->waiting != nullptr) --written->waiting->count;
  ++written_;
  if (!ok) dropped = BreakLocked();
  if (held_back_ > 0 && ready_bytes_ <= limits_.bytes / 2) room_.NotifyAll();
  Action action = Next();
  action.read = ResumeReading();
  return action;
}

StreamFlow::Action StreamFlow::HalfClose() {
  MutexLock lock(&mu_);
  half_closed_ = true;
  return Next();
}

StreamFlow::Action StreamFlow::Fail(absl::Status error) {
  Dropped dropped;
  MutexLock lock(&mu_);
  if (!failure_.has_value()) failure_ = std::move(error);
  dropped = BreakLocked();
  return Next();
}

StreamFlow::Action StreamFlow::Break() {
  Dropped dropped;
  MutexLock lock(&mu_);
  dropped = BreakLocked();
  return Next();
}

bool StreamFlow::MayRead() {
  MutexLock lock(&mu_);
  read_paused_ = !broken_ && (ready_bytes_ > limits_.bytes || HasMostRequests());
  return !read_paused_;
}

bool StreamFlow::ResumeReading() {
  if (!read_paused_ || broken_ || ready_bytes_ > limits_.bytes / 2 || HasMostRequests()) {
    return false;
  }
  read_paused_ = false;
  return true;
}

bool StreamFlow::HoldBack(const WaitingMessages& waiting) {
  {
    MutexLock lock(&mu_);
    if (broken_ || !IsFull(waiting)) return true;
  }
  WakeBatch::Flush();  // the I/O thread may not know yet that there is something to send
  MutexLock lock(&mu_);
  uint64_t seen = written_;
  TimePoint deadline = clock_->Now() + limits_.stall;
  ++held_back_;
  while (!broken_ && !HasRoom(waiting) && clock_->Now() < deadline) {
    clock_->Wait(&room_, &mu_, deadline);
    // A client that takes anything is not dropped.
    if (std::exchange(seen, written_) != written_) deadline = clock_->Now() + limits_.stall;
  }
  --held_back_;
  return broken_ || HasRoom(waiting);
}

uint64_t StreamFlow::waiting_bytes() const {
  MutexLock lock(&mu_);
  return ready_bytes_;
}

void StreamFlow::Queue(MessagePtr message) {
  message->byte_size = message->bytes.size();
  ready_bytes_ += message->byte_size;
  if (message->waiting != nullptr) ++message->waiting->count;
  ready_.push_back(std::move(message));
}

StreamFlow::Dropped StreamFlow::BreakLocked() {
  Dropped dropped;
  broken_ = true;
  dropped.order = std::exchange(order_, Order());
  // The message being written stays until its write ends.
  while (ready_.size() > (writing_ ? 1u : 0u)) {
    MessagePtr& last = ready_.back();
    ready_bytes_ -= last->byte_size;
    if (last->waiting != nullptr) --last->waiting->count;
    dropped.ready.push_back(std::move(last));
    ready_.pop_back();
  }
  if (held_back_ > 0) room_.NotifyAll();
  return dropped;
}

StreamFlow::Action StreamFlow::Next() {
  Action action;
  if (writing_ || finished_) return action;
  if (!ready_.empty()) {
    writing_ = true;
    action.kind = Action::Kind::kWrite;
    action.message = &ready_.front()->bytes;
    return action;
  }
  const bool all_done = (half_closed_ || broken_) && open_requests_ == 0;
  if (!failure_.has_value() && !all_done) return action;
  finished_ = true;
  action.kind = Action::Kind::kFinish;
  if (failure_.has_value()) {
    action.status = *failure_;
  } else if (broken_) {
    action.status = absl::CancelledError("the stream was cancelled");
  }
  return action;
}

bool StreamFlow::IsFull(const WaitingMessages& waiting) const {
  return ready_bytes_ > limits_.bytes || waiting.count >= limits_.messages_per_request;
}

bool StreamFlow::HasRoom(const WaitingMessages& waiting) const {
  return ready_bytes_ <= limits_.bytes / 2 && waiting.count < limits_.messages_per_request;
}

}  // namespace nereid
