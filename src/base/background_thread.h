// SPDX-License-Identifier: Apache-2.0
// Threads that do long work without hurry, such as loading models. A thread that wakes up to answer
// a client should run at once, not after such a thread has used up its turn. Stateless; each thread
// marks itself.
#ifndef NEREID_BASE_BACKGROUND_THREAD_H_
#define NEREID_BASE_BACKGROUND_THREAD_H_

#include "base/export.h"

namespace nereid {

// Makes the calling thread a background thread from now on. It keeps its share of the processor,
// but its turns become longer and end when a thread with ordinary turns wakes up. Threads that it
// creates are ordinary. Returns false, and changes nothing, if the system refuses, or if somebody
// has given this thread another policy or a higher priority for its child threads to inherit. No
// effect before Linux 6.12.
NEREID_API bool BecomeBackgroundThread();

}  // namespace nereid

#endif  // NEREID_BASE_BACKGROUND_THREAD_H_
