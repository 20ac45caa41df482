// Threads whose work is long and not urgent: loading models. Others that wake up, to answer a
// client, are to run at once and not when such a thread has used up its turn. Stateless; each
// thread marks itself.
#ifndef NEREID_BASE_BACKGROUND_THREAD_H_
#define NEREID_BASE_BACKGROUND_THREAD_H_

namespace nereid {

// The calling thread is a background thread from now on. It keeps its share of the processor: its
// turns become longer, and end when a thread with ordinary ones wakes up. Threads that it makes are
// ordinary ones. False, and no change, where the system refuses, and where somebody has given this
// thread another policy or a higher priority, which threads that it makes are to inherit. No effect
// before Linux 6.12.
bool BecomeBackgroundThread();

}  // namespace nereid

#endif  // NEREID_BASE_BACKGROUND_THREAD_H_
