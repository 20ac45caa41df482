// SPDX-License-Identifier: Apache-2.0
// ChildRequests: inference requests that a model's process sends to other models of the server
// (business logic scripting). Those models write their outputs into the memory that the process
// reads. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_CHILD_REQUESTS_H_
#define NEREID_BACKENDS_PYTHON_CHILD_REQUESTS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/python/ipc/value.h"
#include "backends/python/open_requests.h"
#include "backends/python/transport.h"
#include "backends/python/wait_graph.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class ChildRequest;

class ChildRequests {
 public:
  ChildRequests(TRITONSERVER_Server* server, std::shared_ptr<Transport> transport);
  // Cancels all requests in progress and waits for their end.
  ~ChildRequests();
  ChildRequests(const ChildRequests&) = delete;
  ChildRequests& operator=(const ChildRequests&) = delete;

  // Sends the request that `arguments` describe. The answer goes into `slot`: the response or, for
  // a decoupled request, the number of the response stream.
  void Infer(nereid_python::ValueReader* arguments, uint32_t slot);
  // Answers with the next response of a stream as soon as it arrives.
  void Next(uint64_t stream, uint32_t slot);
  void Cancel(uint64_t stream);
  // The process will not ask for more responses of this stream.
  void CloseStream(uint64_t stream);
  void CancelAll();
  bool Idle();
  // The instance that waits for the answers.
  void set_node(WaitGraph::Node* node) { node_ = node; }
  // The requests of the instance, on whose behalf the process sends others.
  void set_parents(OpenRequests* parents) { parents_ = parents; }

 private:
  friend class ChildRequest;

  // False if the answer for which `execute` waits could never arrive.
  bool BeginWait(uint64_t number, const std::string& model, int64_t version);
  // The model; for an ensemble, its member models.
  const std::vector<std::string>& TargetsOf(const std::string& model, int64_t version);
  std::shared_ptr<ChildRequest> Find(uint64_t number);
  void Forget(uint64_t number);

  TRITONSERVER_Server* const server_;
  const std::shared_ptr<Transport> transport_;
  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;
  WaitGraph::Node* node_ = nullptr;
  OpenRequests* parents_ = nullptr;
  std::map<std::string, std::vector<std::string>> targets_;  // cached; listening thread only

  std::mutex mu_;
  std::condition_variable none_left_;
  uint64_t next_ = 1;                                           // guarded by mu_
  std::map<uint64_t, std::shared_ptr<ChildRequest>> children_;  // guarded by mu_; in progress
  std::map<uint64_t, WaitGraph::Wait> waits_;                   // guarded by mu_
  std::map<uint64_t, std::shared_ptr<ChildRequest>> streams_;   // guarded by mu_; being read
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_CHILD_REQUESTS_H_
