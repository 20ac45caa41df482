// SPDX-License-Identifier: Apache-2.0
// DeviceThread: the thread that calls a backend for all instances of a model on one GPU, where the
// backend asks for that (TRITONBACKEND_EXECUTION_DEVICE_BLOCKING). Instances keep threads of their
// own, which pull batches and wait here. Thread-safe.
#ifndef NEREID_EXECUTION_DEVICE_THREAD_H_
#define NEREID_EXECUTION_DEVICE_THREAD_H_

#include <absl/base/thread_annotations.h>
#include <absl/functional/any_invocable.h>
#include <absl/functional/function_ref.h>

#include <string>
#include <thread>

#include "base/mutex.h"

namespace nereid {

class DeviceThread {
 public:
  // Calls `before` first, which may be empty.
  DeviceThread(std::string name, absl::AnyInvocable<void()> before);
  // REQUIRES: no call of Run is under way.
  ~DeviceThread();
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  // Has the thread call `job`, after those of earlier callers, and waits for its end. Needs no
  // memory. REQUIRES: `job` does not throw, and calls no Run of this object.
  void Run(absl::FunctionRef<void()> job) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // One call of Run, in the memory of its caller. `next` and `done` belong to mu_.
  struct Job {
    absl::FunctionRef<void()> call;
    Job* next = nullptr;
    bool done = false;
  };
  void Work() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar changed_;
  Job* first_ ABSL_GUARDED_BY(mu_) = nullptr;
  Job* last_ ABSL_GUARDED_BY(mu_) = nullptr;
  bool ends_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_DEVICE_THREAD_H_
