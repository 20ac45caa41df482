// SPDX-License-Identifier: Apache-2.0
// OpenRequests: requests that a model's process has received and that have not had their last
// response. A request is identified by a number. Thread-safe.
//
// While its batch is being executed, a request object belongs to the instance's thread; after that
// only its response factory remains. Responses that the model sends on its own are sent by the
// thread that listens to the process, and which therefore never waits for a client: the process is
// told that the request has no credit, and its thread that sends waits there.
#ifndef NEREID_BACKENDS_PYTHON_OPEN_REQUESTS_H_
#define NEREID_BACKENDS_PYTHON_OPEN_REQUESTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/python/output_check.h"
#include "backends/python/response.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "backends/sdk/response_factory.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class OpenRequests {
 public:
  // `outputs` outlives the object.
  OpenRequests(TRITONBACKEND_ModelInstance* instance, bool decoupled, const OutputCheck* outputs)
      : instance_(instance), decoupled_(decoupled), outputs_(outputs) {}
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;

  // For whoever answers a request in another way than by Send.
  const OutputCheck& outputs() const { return *outputs_; }

  // Registers a request that is about to be executed; returns its number.
  uint64_t Open(TRITONBACKEND_Request* request);
  // The caller will answer this request, which is being executed. False if it is answered already.
  bool Take(uint64_t number);
  // A trace for a request that the model sends on behalf of this one; the caller owns it. Null if
  // this request is not traced, or has ended.
  TRITONSERVER_InferenceTrace* SpawnChildTrace(uint64_t number);
  // The batch has ended. Requests that the model has not answered stay open, and Send answers them.
  void EndExecution(uint64_t number);

  // Sends a response (null: none), and with `final` the final flag. Also succeeds if there is no
  // such request (any more). The process behind `transport` learns when it has no credit for more.
  void Send(uint64_t number, const PythonResponse* response, bool final, OutputSource* source,
            const std::shared_ptr<Transport>& transport);
  // Answers with `error`, which the caller keeps, and the final flag.
  void Fail(uint64_t number, const Error& error);
  // As Fail, for all requests that are not being executed.
  void FailAll(const Error& error);
  // No further answers will come.
  void Drop(uint64_t number);
  // Whether the client has cancelled the request. False for a request that has ended.
  bool IsCancelled(uint64_t number);

 private:
  using Factory = std::shared_ptr<TRITONBACKEND_ResponseFactory>;
  struct Entry {
    TRITONBACKEND_Request* request = nullptr;  // while it is executed
    Factory factory;                           // created when needed
    // Lives as long as `request` or `factory`; null: not traced.
    TRITONSERVER_InferenceTrace* trace = nullptr;
    bool dropped = false;
    bool without_credit = false;  // the process knows
  };

  static Factory MakeFactory(TRITONBACKEND_Request* request);
  // The factory of a request that is open; if `take`, the request is removed.
  Factory FactoryOf(uint64_t number, bool take);
  void SendError(TRITONBACKEND_ResponseFactory* factory, const Error& error);
  // Tells the process that the request has lost its credit, and later that it has it again.
  void LoseCredit(uint64_t number, const Factory& factory,
                  const std::shared_ptr<Transport>& transport);
  // False if that was noted before, or the request has ended.
  bool NoteCredit(uint64_t number, bool lost);

  TRITONBACKEND_ModelInstance* const instance_;
  const bool decoupled_;  // true: statistics per response; false: per batch
  const OutputCheck* const outputs_;
  std::mutex mu_;
  uint64_t next_ = 1;                            // guarded by mu_
  std::unordered_map<uint64_t, Entry> entries_;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_OPEN_REQUESTS_H_
