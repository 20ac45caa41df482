// SPDX-License-Identifier: Apache-2.0
// Ledger: the requests, responses, factories and errors that the backend under check holds, and
// what it may still do with them. It is told of every call between server and backend, finds what
// is wrong, and says which calls must not reach the server, because they would use freed memory.
// Thread-safe; one per process, as the interposed C functions have no context.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_LEDGER_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_LEDGER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "triton/core/tritonbackend.h"

namespace nereid {

class Ledger {
 public:
  static Ledger& Get();

  // Execution start, computation start, computation end, execution end; nanoseconds.
  using Times = std::array<uint64_t, 4>;

  struct Request {
    enum class State { kHeld, kReleased, kTakenBack };
    State state = State::kHeld;
    bool filler = false;   // the server's own: nobody waits for its answer
    bool checked = false;  // by CheckRequests
    bool decoupled = false;
    uint64_t execute_start_ns = 0;
    int responses = 0;
    int finals = 0;
    int reports = 0;
    bool answered_by_error = false;
    bool reported_success = false;
  };
  using RequestPtr = std::shared_ptr<Request>;

  // ---- Executions.
  std::vector<RequestPtr> BeginExecute(TRITONBACKEND_Request** requests, uint32_t count)
      ABSL_LOCKS_EXCLUDED(mu_);
  // `failed`: Execute has returned an error or thrown.
  void EndExecute(const std::vector<RequestPtr>& batch, bool failed) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Requests. False: the call must not reach the server.
  bool MayUse(TRITONBACKEND_Request* request, const char* function) ABSL_LOCKS_EXCLUDED(mu_);
  bool MayRelease(TRITONBACKEND_Request* request, uint32_t flags) ABSL_LOCKS_EXCLUDED(mu_);
  bool MayReport(TRITONBACKEND_Request* request, bool success, const Times& times)
      ABSL_LOCKS_EXCLUDED(mu_);
  void ReportBatch(const Times& times) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Responses and factories. False: the call must not reach the server.
  void NewResponse(TRITONBACKEND_Response* response, TRITONBACKEND_Request* request)
      ABSL_LOCKS_EXCLUDED(mu_);
  void NewResponse(TRITONBACKEND_Response* response, TRITONBACKEND_ResponseFactory* factory)
      ABSL_LOCKS_EXCLUDED(mu_);
  void NewFactory(TRITONBACKEND_ResponseFactory* factory, TRITONBACKEND_Request* request)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool MayUse(TRITONBACKEND_Response* response, const char* function) ABSL_LOCKS_EXCLUDED(mu_);
  bool MaySend(TRITONBACKEND_Response* response, uint32_t flags, bool error)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool MayDelete(TRITONBACKEND_Response* response) ABSL_LOCKS_EXCLUDED(mu_);
  void SendFlags(TRITONBACKEND_ResponseFactory* factory, uint32_t flags) ABSL_LOCKS_EXCLUDED(mu_);
  void DeleteFactory(TRITONBACKEND_ResponseFactory* factory) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Memory of the server's memory manager.
  void NewMemory(void* memory) ABSL_LOCKS_EXCLUDED(mu_);
  void FreeMemory(void* memory) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- What the check asks.
  // After requests have been answered, or the wait for that was given up: looks at those that it
  // has not looked at before.
  void CheckRequests() ABSL_LOCKS_EXCLUDED(mu_);
  // After the last Finalize function.
  void CheckEnd() ABSL_LOCKS_EXCLUDED(mu_);
  // The most requests that one execution has had.
  uint32_t largest_batch() ABSL_LOCKS_EXCLUDED(mu_);
  // How often the backend was executed.
  uint64_t executions() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  enum class ResponseState { kOpen, kSent, kDeleted };
  struct Response {
    ResponseState state = ResponseState::kOpen;
    RequestPtr request;
  };

  RequestPtr Find(TRITONBACKEND_Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountSend(Request* request, bool response, uint32_t flags, bool error)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void CheckRequest(const Request& request);

  Mutex mu_;
  std::map<TRITONBACKEND_Request*, RequestPtr> requests_ ABSL_GUARDED_BY(mu_);
  std::map<TRITONBACKEND_Response*, Response> responses_ ABSL_GUARDED_BY(mu_);
  std::map<TRITONBACKEND_ResponseFactory*, RequestPtr> factories_ ABSL_GUARDED_BY(mu_);
  std::map<void*, int> memory_ ABSL_GUARDED_BY(mu_);
  uint32_t largest_batch_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t executions_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t successes_ ABSL_GUARDED_BY(mu_) = 0;  // requests reported
  uint64_t batch_reports_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_LEDGER_H_
