// SPDX-License-Identifier: Apache-2.0
// How the kernel schedules the calling thread. The C library lacks the functions, and its headers
// clash with the kernel's over the structure. Stateless.
#ifndef NEREID_BASE_SCHED_ATTRIBUTES_H_
#define NEREID_BASE_SCHED_ATTRIBUTES_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace nereid {

// sched_attr of sched_setattr(2), in its first version.
struct SchedAttributes {
  static constexpr uint32_t kNormalPolicy = 0;
  static constexpr uint32_t kBatchPolicy = 3;
  static constexpr uint64_t kResetOnFork = 1;

  uint32_t size = sizeof(SchedAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

inline bool GetSchedAttributes(SchedAttributes* attributes) {
  return ::syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0;
}
inline bool SetSchedAttributes(const SchedAttributes& attributes) {
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace nereid

#endif  // NEREID_BASE_SCHED_ATTRIBUTES_H_
