// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/stream_flow.h"

#include <utility>

namespace nereid {

void StreamFlow::BeginRequest() {
  MutexLock lock(&mu_);
  ++open_requests_;
  ++requests_;
}

StreamFlow::Action StreamFlow::RequestGone(WaitingMessages* waiting) {
  MutexLock lock(&mu_);
  --requests_;
  without_credit_.erase(waiting);
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
  Uncount(*written);
  if (!ok) dropped = BreakLocked();
  Action action = Next();
  action.credited = GiveCredit();
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

uint64_t StreamFlow::waiting_bytes() const {
  MutexLock lock(&mu_);
  return ready_bytes_;
}

void StreamFlow::Queue(MessagePtr message) {
  message->byte_size = message->bytes.size();
  WaitingMessages* const waiting = message->waiting;
  ready_bytes_ += message->byte_size;
  account_->fetch_add(message->byte_size, std::memory_order_relaxed);
  if (waiting != nullptr) ++waiting->count;
  ready_.push_back(std::move(message));
  if (waiting == nullptr || waiting->credit == nullptr || !IsFull(*waiting)) return;
  if (without_credit_.insert(waiting).second) waiting->credit->Withdraw();
}

void StreamFlow::Uncount(const StreamMessage& message) {
  ready_bytes_ -= message.byte_size;
  account_->fetch_sub(message.byte_size, std::memory_order_relaxed);
  if (message.waiting != nullptr) --message.waiting->count;
}

ResponseCredit::Woken StreamFlow::GiveCredit() {
  ResponseCredit::Woken woken;
  if (without_credit_.empty() || ready_bytes_ > limits_.bytes / 2) return woken;
  for (auto it = without_credit_.begin(); it != without_credit_.end();) {
    if (HasRoom(**it)) {
      woken.Add((*it)->credit->Give());
      it = without_credit_.erase(it);
    } else {
      ++it;
    }
  }
  return woken;
}

StreamFlow::Dropped StreamFlow::BreakLocked() {
  Dropped dropped;
  broken_ = true;
  dropped.order = std::exchange(order_, Order());
  // The message being written stays until its write ends.
  while (ready_.size() > (writing_ ? 1u : 0u)) {
    MessagePtr& last = ready_.back();
    Uncount(*last);
    dropped.ready.push_back(std::move(last));
    ready_.pop_back();
  }
  for (WaitingMessages* const waiting : without_credit_) {
    dropped.waived.Add(waiting->credit->Waive());
  }
  without_credit_.clear();
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
