#include "frontends/grpc/call_queue.h"

#include <optional>

#include "base/io_thread.h"
#include "frontends/grpc/completion_tag.h"
#include "frontends/grpc/held_sends.h"
#include "frontends/grpc/unary_infer.h"

namespace nereid {
namespace {

constexpr int kEventsOfACall = 3;  // it arrived, its answer was taken, it is over
constexpr int kMaxEventsPerTurn = 64;

}  // namespace

CallQueue::CallQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue, size_t pool_size)
    : queue_(std::move(queue)), pool_size_(pool_size) {}

CallQueue::~CallQueue() = default;

void CallQueue::Start() {
  thread_ = std::thread([this] { Run(); });
}

void CallQueue::Run() {
  MarkIoThread();
  void* tag = nullptr;
  bool ok = false;
  int events = 0;  // handled in the last turn
  while (queue_->Next(&tag, &ok)) {
    // If several answers are likely, they are sent together. A single one is sent at once.
    std::optional<HeldSends> held;
    if (events > kEventsOfACall) held.emplace();
    static_cast<CompletionTag*>(tag)->Run(ok);
    // A model that batches is executed once everything that has arrived is handled.
    events = 1;
    while (events < kMaxEventsPerTurn && TakeEvent(&tag, &ok)) {
      static_cast<CompletionTag*>(tag)->Run(ok);
      ++events;
    }
    turn_.End();
  }
}

bool CallQueue::TakeEvent(void** tag, bool* ok) {
  return queue_->AsyncNext(tag, ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
         grpc::CompletionQueue::GOT_EVENT;
}

void CallQueue::Stop() {
  // Once the last user has left, no one can start an operation any more.
  operations_.Close([this] { queue_->Shutdown(); });
  if (thread_.joinable()) thread_.join();
  std::vector<std::unique_ptr<UnaryInfer>> idle;
  MutexLock lock(&mu_);
  pool_size_ = 0;
  idle_.swap(idle);
}

std::unique_ptr<UnaryInfer> CallQueue::TakeIdle() {
  MutexLock lock(&mu_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<UnaryInfer> call = std::move(idle_.back());
  idle_.pop_back();
  return call;
}

void CallQueue::ReturnIdle(std::unique_ptr<UnaryInfer> call) {
  MutexLock lock(&mu_);
  if (idle_.size() < pool_size_) idle_.push_back(std::move(call));
}

}  // namespace nereid
