// SPDX-License-Identifier: Apache-2.0
// ModelTrial: sends requests to a model of a server in this process, one after the other, and
// prints the responses. Owned by the main thread; responses arrive on threads of the server.
#ifndef NEREID_APPS_NEREID_MODEL_TRIAL_H_
#define NEREID_APPS_NEREID_MODEL_TRIAL_H_

#include <absl/status/statusor.h>

#include <deque>
#include <iosfwd>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "frontends/codec/request_buffers.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "memory/output_allocator.h"
#include "server/server.h"

namespace nereid {

class ModelTrial {
 public:
  // Both outlive the object.
  ModelTrial(Server* server, std::ostream* out) : server_(server), out_(*out) {}

  struct Plan {
    std::string model;
    std::string json;  // a request as clients send it; empty: generated from the model's inputs
    int count = 1;
    bool sequence = false;  // the requests are one sequence
  };
  // Prints every response. False if an error was printed; the remaining requests are then not sent.
  // Returns an error if nothing could be sent: no such model, or a request that does not fit it.
  absl::StatusOr<bool> Run(const Plan& plan);

 private:
  struct Received {
    std::unique_ptr<InferResponse> response;  // null: only flags
    bool final = false;
  };

  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);

  // Fills the request; its data is stored in `buffers`.
  absl::Status Fill(const Plan& plan, int index, InferRequest* request, RequestBuffers* buffers);
  absl::Status FillSample(const std::string& model, InferRequest* request, RequestBuffers* buffers);
  // Prints responses until the request, issued at `start`, has ended. False if any response was an
  // error.
  bool PrintAnswers(TimePoint start) ABSL_LOCKS_EXCLUDED(mu_);
  Received Next() ABSL_LOCKS_EXCLUDED(mu_);
  bool Print(const InferResponse& response);

  Server* const server_;
  std::ostream& out_;
  const HeapOutputAllocator allocator_{nullptr};
  Mutex mu_;
  CondVar changed_;
  std::deque<Received> received_ ABSL_GUARDED_BY(mu_);
  bool released_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_MODEL_TRIAL_H_
