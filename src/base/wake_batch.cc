// SPDX-License-Identifier: Apache-2.0
#include "base/wake_batch.h"

#include <algorithm>
#include <new>

namespace nereid {
namespace {

thread_local WakeBatch* current = nullptr;

}  // namespace

WakeBatch::WakeBatch() {
  if (current == nullptr) current = this;
}

WakeBatch::~WakeBatch() {
  if (current != this) return;
  current = nullptr;
  WakeAll();
}

bool WakeBatch::IsOpen() { return current != nullptr; }

void WakeBatch::Flush() noexcept {
  if (current != nullptr) current->WakeAll();
}

void WakeBatch::PutOff(const std::shared_ptr<Sleeper>& sleeper) noexcept try {
  auto& sleepers = current->sleepers_;
  if (std::find(sleepers.begin(), sleepers.end(), sleeper) == sleepers.end()) {
    sleepers.push_back(sleeper);
  }
  if (++current->waiting_ == kMost) current->WakeAll();
} catch (const std::bad_alloc&) {
  sleeper->Wake();
}

void WakeBatch::WakeAll() noexcept {
  for (const auto& sleeper : sleepers_) sleeper->Wake();
  sleepers_.clear();
  waiting_ = 0;
}

}  // namespace nereid
