// SPDX-License-Identifier: Apache-2.0
// Execution: those requests of one TRITONBACKEND_ModelInstanceExecute that a Python model gets in
// one call of its execute, from the assignment of their numbers to their release. Used by one
// thread.
#ifndef NEREID_BACKENDS_PYTHON_EXECUTION_H_
#define NEREID_BACKENDS_PYTHON_EXECUTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/python/client_files.h"
#include "backends/python/open_requests.h"
#include "backends/python/request_message.h"
#include "backends/python/response.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class Execution {
 public:
  // From now on the backend owns the requests.
  Execution(TRITONBACKEND_ModelInstance* instance, OpenRequests* open,
            std::vector<TRITONBACKEND_Request*> requests, bool batching);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Makes the process execute the requests, and takes its answers. UNAVAILABLE if the process has
  // ended; no request is answered then.
  Error Run(const std::shared_ptr<Transport>& transport);

  // ---- The parts of Run, where the process gets further executions by the same command.
  // Appends the requests to `message`. Returns whether there are any: a request that cannot be
  // passed to the process is answered with an error.
  bool Write(const RequestMemory& memory, nereid_python::ValueWriter* message);
  // Takes the answers in the process's reply. The process began with this execution at `begun`.
  void Take(const Transport::PartReply& reply, uint64_t begun, OutputSource source);

  // Answers all that are not answered yet with `error`.
  void FailAll(const Error& error);
  // Reports statistics and releases the requests.
  void Finish();

  // The requests; valid until Finish.
  std::vector<TRITONBACKEND_Request*> requests() const;
  // When the model's execute has returned, and how long it took; 0 before the answers are taken.
  uint64_t compute_end() const { return compute_end_; }
  uint64_t compute_ns() const { return compute_end_ - compute_start_; }
  // Whether a tensor is so large that it had better not be copied (kLeastLent).
  bool has_large_tensors() const { return has_large_tensors_; }

 private:
  struct Item {
    TRITONBACKEND_Request* request = nullptr;
    uint64_t number = 0;
    bool sent = false;  // to the process
    std::vector<OutputPlace> places;
    bool failed = false;  // answered with an error
    uint32_t release = TRITONSERVER_REQUEST_RELEASE_ALL;
  };

  // A response that is ready, and what it says if it could not be filled.
  struct Answer {
    TRITONBACKEND_Response* response;
    Error error;
  };

  // Takes the process's answers to the requests that were sent.
  Error Read(std::string_view reply, OutputSource source);
  // Reads the answers and sends them, those before the first damaged one in any case.
  Error ReadAnswers(nereid_python::ValueReader* reader, OutputSource* source);
  // Makes the response to a request. None if there is nothing to send: the request failed, which
  // it has been told, or was answered before, or the server can make no response.
  std::optional<Answer> Make(Item* item, const PythonResponse& response, OutputSource* source);
  void Fail(Item* item, const Error& error);
  void MarkComputed(uint64_t start, uint64_t end);
  void Report(uint64_t end);

  TRITONBACKEND_ModelInstance* const instance_;
  OpenRequests* const open_;
  const bool batching_;
  std::vector<Item> items_;
  uint64_t start_;
  bool has_large_tensors_ = false;
  uint64_t compute_start_ = 0;
  uint64_t compute_end_ = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_EXECUTION_H_
