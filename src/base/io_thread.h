// Marks the threads that move bytes between clients and the server. A client that reads slowly must
// never block such a thread, because that same thread has to notice when the client reads on.
// Stateless; each thread marks itself.
#ifndef NEREID_BASE_IO_THREAD_H_
#define NEREID_BASE_IO_THREAD_H_

namespace nereid {

namespace internal {
inline thread_local bool on_io_thread = false;
}  // namespace internal

// Marks the calling thread as an I/O thread from now on. Frontends in one program see each other's
// marks; the core library has its own copy and sees none of them.
inline void MarkIoThread() { internal::on_io_thread = true; }
inline bool OnIoThread() { return internal::on_io_thread; }

}  // namespace nereid

#endif  // NEREID_BASE_IO_THREAD_H_
