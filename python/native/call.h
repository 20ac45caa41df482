// SPDX-License-Identifier: Apache-2.0
// Call: one request from its issue to its end. It is counted by references: Python has one, and the
// request one until its end. Thread-safe unless stated otherwise; the callbacks of the server run
// without the GIL.
#ifndef NEREID_PYTHON_NATIVE_CALL_H_
#define NEREID_PYTHON_NATIVE_CALL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/python/python_api.h"
#include "backends/sdk/request_life.h"
#include "python/native/error.h"
#include "python/native/waker.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {

class Call final : private nereid_backend::RequestLife {
 public:
  // What a reader waits for: each response, or the end of the call, when all responses have come
  // and the server does not read the inputs any more.
  enum class News { kEach, kEnd };
  struct Arrival {
    TRITONSERVER_InferenceResponse* response;  // owned; null: the final flag alone
    bool final;
  };

  // `limit`: responses that are kept; further ones are only counted.
  explicit Call(uint64_t limit);
  void Unref();

  // ---- Before the call is issued, with the GIL.
  TRITONSERVER_InferenceRequest** request() { return draft(); }
  // Keep what the server reads until the end: an object, or bytes, or neither.
  void Keep(Ref object, std::unique_ptr<std::string> bytes) {
    if (object) kept_.push_back(object.release());
    if (bytes != nullptr) texts_.push_back(std::move(bytes));
  }

  // Hands the request to the server. `here`: this thread waits for the end anyway, so it may
  // execute the model.
  CError Issue(TRITONSERVER_Server* server, bool here);

  using RequestLife::Cancel;
  // Nobody reads any more: responses are deleted as they come.
  void Abandon();
  // Sleeps until there are news, for `nanoseconds` at most; may return before. False: no news.
  bool Wait(News news, uint64_t nanoseconds);
  // The next response; false if none has come yet.
  bool Take(Arrival* arrival);
  bool ended();
  // Responses that came with content; limit and beyond.
  uint64_t answers();

  // ---- With the GIL.
  // Once there are news, `waker` gives `future` out. False if there are some already.
  bool Arm(std::shared_ptr<Waker> waker, Ref future, News news);
  Ref TakeFuture();
  // Gives up what was kept. REQUIRES: ended.
  void DropKept();

 private:
  ~Call();
  void OnResponse(TRITONSERVER_InferenceResponse* response, bool final) override;
  void OnEnded() override;
  bool Has(News news) const;  // REQUIRES mu_
  // Wakes who waits, if there are news for him. Unlocks.
  void Tell(std::unique_lock<std::mutex> lock);

  const uint32_t generation_;
  const uint64_t limit_;
  std::atomic<int> refs_{1};
  std::mutex mu_;
  // Guarded by mu_, after the call was issued.
  std::vector<Arrival> arrivals_;
  size_t taken_ = 0;  // of the arrivals
  uint64_t answers_ = 0;
  bool ended_ = false;  // the request; there may be responses to take
  bool abandoned_ = false;
  int sleepers_ = 0;
  News sleepers_want_ = News::kEnd;
  std::atomic<uint32_t> changes_{0};  // what sleepers watch; written under mu_
  std::shared_ptr<Waker> waker_;      // null: no future waits
  News future_wants_ = News::kEnd;
  // Guarded by the GIL, and by being the last reference.
  PyObject* future_ = nullptr;
  std::vector<PyObject*> kept_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

// Adds the type `Call` to the module. False with an exception.
bool AddCallType(PyObject* module);
// An object for a call that was issued, whose reference it takes over.
PyObject* NewCallObject(Call* call);

// Waits for news without the GIL, while signals are handled as they arrive. `seconds` below 0: for
// any time. 1: there are news; 0: they did not come in time; -1: a signal's handler raised an
// exception.
int WaitForNews(Call* call, Call::News news, double seconds);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_CALL_H_
