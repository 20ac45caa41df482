// SPDX-License-Identifier: Apache-2.0
#include "backend_host/execution_scope.h"

namespace nereid {
namespace {

thread_local ExecutionScope* innermost = nullptr;

void GiveBack(InferRequest* request, uint32_t flags) {
  const bool again = (flags & kRequestReleaseReschedule) != 0;
  if (again && !request->is_synthetic()) {
    request->Reschedule();
  } else {
    request->Release(flags);
  }
}

}  // namespace

ExecutionScope::ExecutionScope(const LentBatch* lent, std::vector<Released>* released)
    : lent_(lent), released_(released), outer_(innermost) {
  released_->clear();
  innermost = this;
}

ExecutionScope::~ExecutionScope() {
  innermost = outer_;
  for (const Released& one : *released_) GiveBack(one.request, one.flags);
}

ExecutionScope* ExecutionScope::Of(const LentBatch* lent) {
  ExecutionScope* scope = lent == nullptr ? nullptr : innermost;
  while (scope != nullptr && scope->lent_ != lent) scope = scope->outer_;
  return scope;
}

void ExecutionScope::Release(InferRequest* request, uint32_t flags, const LentBatch* lent) {
  if (ExecutionScope* const scope = Of(lent)) {
    scope->released_->push_back({request, flags});
  } else {
    GiveBack(request, flags);
  }
}

}  // namespace nereid
