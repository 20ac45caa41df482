// SPDX-License-Identifier: Apache-2.0
// RequestLife: a request that its owner sends to the server by the C API, from its making to its
// end. The request has ended when the server has released it and its last response has come, in
// either order: a decoupled model releases a request at once and answers for long. Until then it
// exists, so that it can be cancelled.
//
// Derive from it. What the derived class cannot do wrong: the two ends may come on any threads, and
// before Issue returns; OnEnded comes once, as the last call; Cancel does what is right before,
// during and after the flight, on any thread.
//
// Thread-safe where a method says so; until Issue, otherwise thread-compatible. No lock, and none
// is held while the server or the derived class is called.
#ifndef NEREID_BACKENDS_SDK_REQUEST_LIFE_H_
#define NEREID_BACKENDS_SDK_REQUEST_LIFE_H_

#include <atomic>
#include <cstdint>

#include "triton/core/tritonserver.h"

namespace nereid_backend {

class RequestLife {
 public:
  RequestLife(const RequestLife&) = delete;
  RequestLife& operator=(const RequestLife&) = delete;

  // The request, for TRITONSERVER_InferenceRequestNew and for who fills it. REQUIRES: not issued.
  TRITONSERVER_InferenceRequest** draft() { return &request_; }

  // Asks the server to give the request up: now, or as soon as the server has it. Does nothing for
  // one that has ended. May run all of the callbacks below on this thread. Any thread; the caller
  // keeps the object meanwhile.
  void Cancel();

 protected:
  // How the server gets the request: TRITONSERVER_ServerInferAsync, or a function like it.
  using Infer = decltype(&TRITONSERVER_ServerInferAsync);
  struct Outputs {
    TRITONSERVER_ResponseAllocator* allocator;  // outlives the responses
    void* userp = nullptr;                      // the allocator gets it
  };

  RequestLife() = default;
  // Deletes a request that was not issued. REQUIRES: it was not issued, or it has ended.
  ~RequestLife();

  // Gives the request to the server. After an error no callback comes, and the request is a draft
  // as before; whose `trace` is then is a matter of `infer`. REQUIRES: there is a draft, and the
  // object exists until OnEnded.
  TRITONSERVER_Error* Issue(Infer infer, TRITONSERVER_Server* server,
                            TRITONSERVER_InferenceTrace* trace, const Outputs& outputs);
  // The request is no longer this process's: nothing is deleted.
  void Forget() { request_ = nullptr; }

  // ---- Callbacks, on any thread. They must not block.
  // `response`, which becomes the derived class's own, is null if only the end is told.
  virtual void OnResponse(TRITONSERVER_InferenceResponse* response, bool final) = 0;
  // The server does not read the inputs of `request` any more. It may still be cancelled.
  virtual void OnReleased(TRITONSERVER_InferenceRequest* request) {}
  // Both ends have come and the request is deleted. Called once, as the last of all; the object may
  // be destroyed within it.
  virtual void OnEnded() = 0;

 private:
  // What the request waits for: for as long as one of these bits is set, it exists.
  static constexpr uint32_t kIssuing = 1;  // Issue has not returned
  static constexpr uint32_t kUnreleased = 2;
  static constexpr uint32_t kUnanswered = 4;
  static constexpr uint32_t kCancelling = 8;  // a thread is inside of the server's Cancel
  static constexpr uint32_t kAlive = kIssuing | kUnreleased | kUnanswered | kCancelling;
  static constexpr uint32_t kCancelled = 16;  // Cancel was called; once is enough

  static void HandleResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* self);
  static void HandleRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* self);
  // The server has the request: passes on a Cancel that came meanwhile.
  void EndIssue();
  void CancelInServer();
  // What `bit` stands for is over.
  void End(uint32_t bit);
  void Finish();

  // Constant from Issue to Finish.
  TRITONSERVER_InferenceRequest* request_ = nullptr;
  std::atomic<uint32_t> state_{kIssuing | kUnreleased | kUnanswered};
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_REQUEST_LIFE_H_
