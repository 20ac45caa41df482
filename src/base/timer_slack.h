// SPDX-License-Identifier: Apache-2.0
// How late the kernel may wake a thread that waits for a time. Stateless.
#ifndef NEREID_BASE_TIMER_SLACK_H_
#define NEREID_BASE_TIMER_SLACK_H_

#include <sys/prctl.h>

namespace nereid {

// From now on the calling thread, and threads that it starts, wake when they are due. By default
// the kernel adds up to 50 µs, to wake several sleepers at once: as much as a short queue delay.
inline void WakeWhenDue() noexcept { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

}  // namespace nereid

#endif  // NEREID_BASE_TIMER_SLACK_H_
