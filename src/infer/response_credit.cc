// SPDX-License-Identifier: Apache-2.0
#include "infer/response_credit.h"

#include <absl/strings/str_cat.h>

namespace nereid {

void ResponseCredit::Withdraw() {
  MutexLock lock(&mu_);
  full_.store(true, std::memory_order_release);
}

ResponseCredit::Woken ResponseCredit::Give() {
  Woken woken;
  MutexLock lock(&mu_);
  full_.store(false, std::memory_order_release);
  woken.waiters_.swap(waiters_);
  return woken;
}

ResponseCredit::Woken ResponseCredit::WaiveNow() {
  Woken woken;
  MutexLock lock(&mu_);
  waived_.store(true, std::memory_order_release);
  woken.waiters_.swap(waiters_);
  return woken;
}

void ResponseCredit::OnCredit(Waiter waiter) {
  {
    MutexLock lock(&mu_);
    if (!has_credit()) {
      waiters_.push_back(std::move(waiter));
      return;
    }
  }
  waiter();
}

absl::Status UnreadError(absl::string_view id, absl::string_view model, uint64_t held) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "[request id: ", id.empty() ? "<id_unknown>" : id, "] the responses of model '", model,
      "' end here because the client reads them too slowly: ", held,
      " bytes wait for it, and the server has no room for more (--max-in-flight-bytes)"));
}

}  // namespace nereid
