// SPDX-License-Identifier: Apache-2.0
// What the module does when the process forks and when the interpreter ends, and references that
// threads without the GIL have to give up. Thread-safe.
//
// Threads of the server never take the GIL, so they neither wait for Python nor run into an
// interpreter that ends.
#ifndef NEREID_PYTHON_NATIVE_LIFE_H_
#define NEREID_PYTHON_NATIVE_LIFE_H_

#include <cstdint>
#include <vector>

#include "backends/sdk/python/python_api.h"

namespace nereid_python::native {

// Counts the forks above this process. A server belongs to the generation that started it: in a
// child, its threads are gone.
uint32_t Generation();
void CountForks();

// Gives up owned references as soon as Python runs. Any thread, with or without the GIL.
void DropLater(std::vector<PyObject*> objects);
// Gives up what has been left so far. REQUIRES the GIL. Costs next to nothing if that is nothing.
void DropLeft();
// The interpreter is about to end, on this thread: from now on references are leaked, and other
// threads do not come back from where they have released the GIL. REQUIRES the GIL.
void BeginEnd();
// Releases the GIL during its lifetime. A thread that would take the GIL back after the interpreter
// has begun to end sleeps until the process ends instead: Python before 3.14 would unwind its
// stack, which C++ does not survive.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* const state_;
};
// Makes the process end, when it does, without running the destructors of static objects: threads
// of a server that did not stop still use them.
void EndWithoutDestructors();

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_LIFE_H_
