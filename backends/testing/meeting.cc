// SPDX-License-Identifier: Apache-2.0
// Behaviour meet: Execute returns only when as many executions as the parameter `times` says are in
// progress at the same time. Tests use it to show that requests run in parallel, without measuring
// time.
#include <condition_variable>
#include <mutex>

#include "backends/testing/behaviours.h"

namespace nereid_backend {
namespace {

// Where the threads of all instances in the process meet. Thread-safe.
class Meeting {
 public:
  // Waits for the others. False if fewer than `wanted` have come within `patience`.
  bool Attend(int64_t wanted, std::chrono::milliseconds patience) {
    std::unique_lock<std::mutex> lock(mu_);
    const int64_t mine = number_;
    if (++present_ >= wanted) {
      present_ = 0;
      ++number_;
      changed_.notify_all();
      return true;
    }
    if (changed_.wait_for(lock, patience, [&] { return number_ != mine; })) return true;
    --present_;
    return false;
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  int64_t number_ = 0;   // of the current meeting
  int64_t present_ = 0;  // threads that wait in it
};

Meeting& TheMeeting() {
  static auto* const meeting = new Meeting;  // threads may outlive static objects
  return *meeting;
}

}  // namespace

TRITONSERVER_Error* ExecuteMeet(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                uint32_t count) {
  const TestingModel& model = instance.model();
  if (!TheMeeting().Attend(model.times(), model.delay())) {
    return Error::Internal("testing backend: nobody else came").release();
  }
  for (uint32_t i = 0; i < count; ++i) EchoAndRelease(model, instance.handle(), requests[i]);
  return nullptr;
}

}  // namespace nereid_backend
