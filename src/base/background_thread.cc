// SPDX-License-Identifier: Apache-2.0
#include "base/background_thread.h"

#include "base/sched_attributes.h"

namespace nereid {
namespace {

// Several times the kernel's default, which is a few milliseconds.
constexpr uint64_t kSliceNs = 20'000'000;

}  // namespace

bool BecomeBackgroundThread() {
  SchedAttributes attributes;
  if (!GetSchedAttributes(&attributes)) return false;
  if (attributes.policy != SchedAttributes::kNormalPolicy || attributes.nice < 0) return false;
  // For the ordinary policy this is the length of a turn.
  attributes.runtime_ns = kSliceNs;
  attributes.flags = SchedAttributes::kResetOnFork;
  return SetSchedAttributes(attributes);
}

}  // namespace nereid
