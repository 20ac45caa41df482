#include "scheduling/dynamic/strategy_session.h"

#include <utility>

namespace nereid {

StrategySession::StrategySession(std::unique_ptr<BatchStrategy> strategy)
    : strategy_(std::move(strategy)) {}

StrategySession::~StrategySession() = default;

bool StrategySession::Ask(Mutex* mu, BatchFormer* queue) {
  bool asked = false;
  while (!closed_) {
    InferRequest* const request = queue->NextToJudge();
    if (request == nullptr) break;
    asked = true;
    asking_ = true;
    const bool begin = queue->judged() == 0;
    const bool end_first = begin && begun_;
    const uint64_t forming = queue->forming();
    begun_ = true;
    mu->Unlock();
    if (end_first) strategy_->End();
    if (begin) strategy_->Begin();
    const bool include = strategy_->Include(request);
    mu->Lock();
    // If another request was queued in front meanwhile, the strategy is asked about a new batch.
    if (queue->forming() == forming) queue->Judge(include);
  }
  if (asked) StopAsking();
  return asked;
}

bool StrategySession::End(Mutex* mu) {
  if (!begun_) return false;
  asking_ = true;
  begun_ = false;
  mu->Unlock();
  strategy_->End();
  mu->Lock();
  StopAsking();
  return true;
}

void StrategySession::StopAsking() {
  asking_ = false;
  asking_ended_.NotifyAll();
}

void StrategySession::Close(Mutex* mu) {
  closed_ = true;
  while (asking_) asking_ended_.Wait(mu);
}

void StrategySession::Drop(Mutex* mu) {
  std::unique_ptr<BatchStrategy> dropped = std::move(strategy_);
  const bool begun = std::exchange(begun_, false);
  mu->Unlock();
  if (begun) dropped->End();
  dropped.reset();
  mu->Lock();
}

}  // namespace nereid
