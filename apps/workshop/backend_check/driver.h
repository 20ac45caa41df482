// SPDX-License-Identifier: Apache-2.0
// Driver: sends requests to the model on trial and looks at what comes back. Used by one thread;
// answers arrive on threads of the server.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_DRIVER_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_DRIVER_H_

#include <absl/status/status.h>

#include <memory>
#include <string>
#include <vector>

#include "backend_check/guarded_allocator.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frontends/codec/request_buffers.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "server/server.h"

namespace nereid {

class Driver {
 public:
  // `json`: the request to send, as clients send it by HTTP; empty: one is made up.
  // `keep`: requests stay as long as the driver, so that no new one takes the place of one that a
  // wrong backend may still use.
  Driver(Server* server, std::string model, std::string json, Duration timeout, bool keep = false)
      : server_(server),
        model_(std::move(model)),
        json_(std::move(json)),
        timeout_(timeout),
        keep_(keep) {}

  struct Wave {
    int count = 1;        // requests, sent at the same time
    bool cancel = false;  // each is cancelled at once
    uint32_t flags = kRequestFlagSequenceStart | kRequestFlagSequenceEnd;  // of a sequence
  };
  // Sends the requests and waits for all answers and releases. UNAVAILABLE if they do not come in
  // time: the model still uses what it was sent, and nothing may be destroyed. INVALID_ARGUMENT if
  // the request does not fit the model.
  absl::Status Send(const Wave& wave);
  // A sequence of requests, one after the other.
  absl::Status SendSequence(int length);

  // Frees the requests that were kept. REQUIRES: the server has stopped.
  void Forget() { kept_.clear(); }
  // Whether any request has been answered without an error.
  bool any_good() const { return any_good_; }

 private:
  struct Exchange {
    Driver* driver = nullptr;
    std::unique_ptr<InferRequest> request;
    RequestBuffers buffers;
    std::vector<std::string> inputs;  // copies of the bytes sent
    // Guarded by the driver's mutex until both ends have come.
    std::vector<std::unique_ptr<InferResponse>> responses;
    bool ended = false;
    bool released = false;
  };

  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);

  absl::Status Prepare(const Wave& wave, Exchange* exchange);
  bool AllBack(const std::vector<std::unique_ptr<Exchange>>& exchanges)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Check(const Exchange& exchange);
  void CheckResponse(const Exchange& exchange, const InferResponse& response);

  Server* const server_;
  const std::string model_;
  const std::string json_;
  const Duration timeout_;
  const bool keep_;
  std::vector<std::unique_ptr<Exchange>> kept_;
  const GuardedAllocator allocator_;
  uint64_t next_sequence_ = 1;
  bool any_good_ = false;
  Mutex mu_;
  CondVar changed_;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_DRIVER_H_
