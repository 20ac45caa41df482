// SPDX-License-Identifier: Apache-2.0
// Waker: wakes the event loop of asyncio, which watches its descriptor, when calls have news.
// Thread-safe.
#ifndef NEREID_PYTHON_NATIVE_WAKER_H_
#define NEREID_PYTHON_NATIVE_WAKER_H_

#include <memory>
#include <mutex>
#include <vector>

#include "backends/sdk/python/python_api.h"

namespace nereid_python::native {

class Call;

class Waker {
 public:
  // Null if the process has no descriptor left.
  static std::shared_ptr<Waker> Make();
  explicit Waker(int fd) : fd_(fd) {}
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // Becomes readable when there are calls to take.
  int fd() const { return fd_; }
  // Adds a call, with a reference of it. Any thread.
  void Add(Call* call);
  // All calls that were added since the last time; the receiver owns their references.
  std::vector<Call*> Take();

 private:
  const int fd_;
  std::mutex mu_;
  std::vector<Call*> calls_;  // guarded by mu_
};

// Adds the type `Waker` to the module. False with an exception.
bool AddWakerType(PyObject* module);
// The Waker of an object of that type; null with an exception.
std::shared_ptr<Waker> WakerOf(PyObject* object);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_WAKER_H_
