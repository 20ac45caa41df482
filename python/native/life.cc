// SPDX-License-Identifier: Apache-2.0
#include "python/native/life.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

namespace nereid_python::native {
namespace {

std::atomic<uint32_t> generation{0};

// References that wait for a thread with the GIL. Never destroyed: threads of a server that did not
// stop in time may outlive the interpreter.
struct Left {
  std::mutex mu;
  std::vector<PyObject*> objects;  // guarded by mu
  bool ended = false;              // guarded by mu
  std::atomic<bool> any{false};
};
Left* left = new Left;

// Threads that take the GIL back; whether one has begun to end the interpreter, and which.
std::atomic<int> returning{0};
std::atomic<bool> ended{false};
pthread_t ender;  // written before `ended`

int DropPending(void*) {
  DropLeft();
  return 0;
}

}  // namespace

uint32_t Generation() { return generation.load(std::memory_order_relaxed); }

void CountForks() {
  pthread_atfork(nullptr, nullptr, [] {
    generation.fetch_add(1, std::memory_order_relaxed);
    returning.store(0);
    left = new Left;  // a thread that is not here may have held the lock
  });
}

void DropLater(std::vector<PyObject*> objects) {
  if (objects.empty()) return;
  const std::lock_guard<std::mutex> lock(left->mu);
  if (left->ended) return;
  left->objects.insert(left->objects.end(), objects.begin(), objects.end());
  // If the interpreter's list of calls is full, the next call into this module drops them.
  if (!left->any.exchange(true)) Py_AddPendingCall(DropPending, nullptr);
}

void DropLeft() {
  if (!left->any.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> objects;
  {
    const std::lock_guard<std::mutex> lock(left->mu);
    objects.swap(left->objects);
    left->any.store(false);
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

Released::~Released() {
  returning.fetch_add(1);
  if (ended.load() && pthread_equal(ender, pthread_self()) == 0) {
    returning.fetch_sub(1);
    for (;;) pause();
  }
  PyEval_RestoreThread(state_);
  returning.fetch_sub(1);
}

void BeginEnd() {
  {
    const std::lock_guard<std::mutex> lock(left->mu);
    left->ended = true;
  }
  ender = pthread_self();
  ended.store(true);
  // Those that were about to come back get the GIL now, while Python still gives it.
  PyThreadState* const state = PyEval_SaveThread();
  while (returning.load() > 0) usleep(100);
  PyEval_RestoreThread(state);
}

void EndWithoutDestructors() {
  // What is registered last runs first.
  on_exit(
      [](int status, void*) {
        fflush(nullptr);
        _exit(status);
      },
      nullptr);
}

}  // namespace nereid_python::native
