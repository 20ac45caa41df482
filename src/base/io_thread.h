// Marks the threads that move bytes between clients and the server. Such a thread must never be
// held back by a client that reads slowly: it is the one that would see the client read on.
// Stateless; each thread marks itself.
#ifndef NEREID_BASE_IO_THREAD_H_
#define NEREID_BASE_IO_THREAD_H_

namespace nereid {

namespace internal {
inline thread_local bool on_io_thread = false;
}  // namespace internal

// The calling thread is an I/O thread from now on. Frontends of one program see each other's marks;
// the core library, which has a copy of its own, sees none.
inline void MarkIoThread() { internal::on_io_thread = true; }
inline bool OnIoThread() { return internal::on_io_thread; }

}  // namespace nereid

#endif  // NEREID_BASE_IO_THREAD_H_
