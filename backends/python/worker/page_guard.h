// PageGuard: keeps a mapping of a client's file usable when the client truncates the file.
//
// An access to a page behind the new end raises SIGBUS, which would end the process and fail the
// requests of others with it. While a PageGuard exists, such an access finds zeros instead, as in
// the server: the handler of SIGBUS replaces the rest of the mapping by private memory. All other
// signals take the course that they had before. A model that installs its own handler of SIGBUS
// does without this.
//
// The first guard installs the handler. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PAGE_GUARD_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PAGE_GUARD_H_

#include <cstddef>

namespace nereid_python::worker {

class PageGuard {
 public:
  // As many guards can exist at a time.
  static constexpr size_t kMost = 4096;

  PageGuard() = default;
  ~PageGuard() { End(); }
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

  // Guards the pages [base, base + size) of one mapping, which is still there when the guard ends.
  // False if there are too many, or if no handler can be installed. REQUIRES: called once.
  bool Begin(void* base, size_t size);
  void End();
  // Whether pages have been replaced. REQUIRES: Begin has returned true.
  bool damaged() const;

 private:
  struct Slot;
  struct Handler;

  Slot* slot_ = nullptr;
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PAGE_GUARD_H_
