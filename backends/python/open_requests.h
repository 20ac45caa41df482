// OpenRequests: requests that a model's process has been given and that have not got their last
// response. A request is known by a number. Thread-safe.
//
// While its batch is executed a request object is the instance thread's; after that only the
// factory of its responses is left. Responses that the model sends by itself are sent by the thread
// that hears the process.
#ifndef NEREID_BACKENDS_PYTHON_OPEN_REQUESTS_H_
#define NEREID_BACKENDS_PYTHON_OPEN_REQUESTS_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/python/response.h"
#include "backends/sdk/error.h"
#include "backends/sdk/response_factory.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class OpenRequests {
 public:
  OpenRequests(TRITONBACKEND_ModelInstance* instance, bool decoupled)
      : instance_(instance), decoupled_(decoupled) {}
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;

  // Takes note of a request that is about to be executed; returns its number.
  uint64_t Open(TRITONBACKEND_Request* request);
  // The caller answers this request, which is being executed. False when that was done already.
  bool Take(uint64_t number);
  // The batch is over. What the model has not answered stays open, and is answered by Send.
  void EndExecution(uint64_t number);

  // Sends a response (null: none), and with `final` the final flag. Success too when there is no
  // such request (any more).
  void Send(uint64_t number, const PythonResponse* response, bool final,
            const Transport& transport);
  // Answers with `error`, which stays the caller's, and the final flag.
  void Fail(uint64_t number, const Error& error);
  // As Fail, for those that are not being executed.
  void FailAll(const Error& error);
  // Nobody will answer any more.
  void Drop(uint64_t number);
  // CANCELLED requests are those whose client has gone. False for a request that is over.
  bool IsCancelled(uint64_t number);

 private:
  using Factory = std::shared_ptr<TRITONBACKEND_ResponseFactory>;
  struct Entry {
    TRITONBACKEND_Request* request = nullptr;  // while it is executed
    Factory factory;                           // made when it is needed
    bool dropped = false;
  };

  static Factory MakeFactory(TRITONBACKEND_Request* request);
  // The factory of a request that is open; the request is forgotten when `take`.
  Factory FactoryOf(uint64_t number, bool take);
  void SendError(TRITONBACKEND_ResponseFactory* factory, const Error& error);
  TRITONBACKEND_ModelInstance* const instance_;
  const bool decoupled_;  // then each response is reported; otherwise the batch as a whole is
  std::mutex mu_;
  uint64_t next_ = 1;                            // guarded by mu_
  std::unordered_map<uint64_t, Entry> entries_;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_OPEN_REQUESTS_H_
