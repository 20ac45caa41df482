// PrivatePages: tells whether a private mapping of a file has pages that were written to, and are
// no longer those of the file. The kernel says so in /proc/self/pagemap. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PRIVATE_PAGES_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PRIVATE_PAGES_H_

#include <cstddef>
#include <cstdint>

#include "backends/sdk/ipc/unique_fd.h"

namespace nereid_python::worker {

class PrivatePages {
 public:
  // Of this process; a process that it forks needs an object of its own.
  PrivatePages();

  // False if the kernel does not tell.
  bool works() const { return works_; }
  // Whether a page in [base, base + size) was written to, in whole pages; true if that cannot be
  // found out.
  bool Any(const char* base, size_t size) const;

 private:
  bool Scan(uintptr_t begin, uintptr_t end, bool* any) const;
  bool Read(uintptr_t begin, uintptr_t end, bool* any) const;
  // Whether what Any says about a mapping is right.
  bool Try() const;

  nereid_ipc::UniqueFd pagemap_;
  const size_t page_size_;
  bool scans_ = true;
  bool works_ = false;
};

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PRIVATE_PAGES_H_
