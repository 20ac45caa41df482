// SPDX-License-Identifier: Apache-2.0
#include "execution/rate_limiter.h"

#include <absl/strings/str_cat.h>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {

RateLimiter::Seat::~Seat() {
  MutexLock lock(&limiter_->mu_);
  limiter_->seats_.erase(id_);
  limiter_->ledger_.Remove(id_);
  limiter_->Grant();
}

bool RateLimiter::Seat::Stage() {
  MutexLock lock(&limiter_->mu_);
  limiter_->ledger_.Stage(id_);
  limiter_->Grant();
  return granted_;
}

bool RateLimiter::Seat::Await() {
  MutexLock lock(&limiter_->mu_);
  while (!granted_ && !closed_) changed_.Wait(&limiter_->mu_);
  if (!closed_) return true;
  // Nobody would use them, nor give them back before the seat goes.
  granted_ = false;
  limiter_->ledger_.Unstage(id_);
  limiter_->ledger_.Release(id_, /*used=*/false);
  limiter_->Grant();
  return false;
}

void RateLimiter::Seat::Release(bool used) {
  MutexLock lock(&limiter_->mu_);
  granted_ = false;
  limiter_->ledger_.Release(id_, used);
  limiter_->Grant();
}

bool RateLimiter::Seat::Restage() {
  MutexLock lock(&limiter_->mu_);
  granted_ = false;
  limiter_->ledger_.Release(id_, /*used=*/true);
  limiter_->ledger_.Stage(id_);
  limiter_->Grant();
  return granted_;
}

void RateLimiter::Seat::Close() {
  MutexLock lock(&limiter_->mu_);
  closed_ = true;
  changed_.NotifyAll();
}

absl::StatusOr<std::unique_ptr<RateLimiter::Seat>> RateLimiter::Register(
    const InstanceSpec& instance) {
  std::unique_ptr<Seat> seat;
  std::string stocks;
  {
    MutexLock lock(&mu_);
    ASSIGN_OR_RETURN(const ResourceLedger::Id id, ledger_.Add(instance));
    seat.reset(new Seat(this, id));
    seats_[id] = seat.get();
    if (Log::IsVerboseEnabled(1)) stocks = StocksText();
  }
  if (!stocks.empty()) LOG_VERBOSE(1) << stocks;
  return seat;
}

void RateLimiter::Grant() {
  ledger_.Grant([this](ResourceLedger::Id id) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Seat* const seat = seats_.find(id)->second;
    seat->granted_ = true;
    seat->changed_.NotifyAll();
  });
}

std::string RateLimiter::StocksText() const {
  std::map<int, std::string> by_device;  // kGlobal comes first
  for (const auto& [pool, stock] : ledger_.Stocks()) {
    absl::StrAppend(&by_device[pool.device], "\t\tResource: ", pool.name,
                    "\t Count: ", stock.capacity, "\n");
  }
  std::string text = "\nMax Resource Map===>\n";
  for (const auto& [device, lines] : by_device) {
    const bool global = device == ResourceLedger::Pool::kGlobal;
    absl::StrAppend(&text, "\tDevice: ", global ? "GLOBAL" : absl::StrCat(device), "\n", lines);
  }
  return text;
}

}  // namespace nereid
