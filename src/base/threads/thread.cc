// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>

#include "base/crash_context.h"

namespace nereid {
namespace {

// What the kernel keeps of a thread's name.
constexpr size_t kNameChars = 15;

// Several times the kernel's default, which is a few milliseconds.
constexpr uint64_t kSliceNs = 20'000'000;

}  // namespace

void SetThreadAttributes(const ThreadAttributes& attributes) {
  if (!attributes.name.empty()) {
    std::array<char, kNameChars + 1> name{};
    attributes.name.copy(name.data(), kNameChars);
    pthread_setname_np(pthread_self(), name.data());
  }
  PrepareThreadForCrash();
  if (attributes.background) BecomeBackgroundThread();
}

bool BecomeBackgroundThread() {
  SchedAttributes attributes;
  if (!GetSchedAttributes(&attributes)) return false;
  if (attributes.policy != SchedAttributes::kNormalPolicy || attributes.nice < 0) return false;
  attributes.runtime_ns = kSliceNs;
  attributes.flags = SchedAttributes::kResetOnFork;
  return SetSchedAttributes(attributes);
}

void WakeWhenDue() noexcept { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

void BlockBrokenPipe() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
}

bool RunOnProcessors(absl::Span<const int> processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

bool BindMemoryToNode(int node) {
  constexpr size_t kBitsPerWord = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, kMostMemoryNodes / kBitsPerWord> nodes{};
  const auto bit = static_cast<size_t>(node);
  nodes[bit / kBitsPerWord] |= 1ul << (bit % kBitsPerWord);
  // The kernel reads one bit less than its argument says.
  return syscall(SYS_set_mempolicy, MPOL_BIND, nodes.data(),
                 static_cast<unsigned long>(kMostMemoryNodes + 1)) == 0;
}

bool GetSchedAttributes(SchedAttributes* attributes) {
  return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0;
}

bool SetSchedAttributes(const SchedAttributes& attributes) {
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace nereid
