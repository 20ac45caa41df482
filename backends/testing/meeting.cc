// Behaviour meet: Execute returns only when as many models as the parameter `times` says are in it
// at the same time. Shows that requests run in parallel, without looking at a clock.
#include <condition_variable>
#include <mutex>

#include "backends/testing/behaviours.h"

namespace nereid_backend {
namespace {

// Where the threads of all instances in the process meet. Thread-safe.
class Meeting {
 public:
  // False if fewer than `wanted` came within `patience`.
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
  int64_t number_ = 0;   // of the meeting that is being waited for
  int64_t present_ = 0;  // who has come to it
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
