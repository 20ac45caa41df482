// Execution: requests of one TRITONBACKEND_ModelInstanceExecute that the process of a Python model
// gets at a time, from their numbers to their release. Used by one thread.
#ifndef NEREID_BACKENDS_PYTHON_EXECUTION_H_
#define NEREID_BACKENDS_PYTHON_EXECUTION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/python/open_requests.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

class Execution {
 public:
  // The requests are the backend's from here on.
  Execution(TRITONBACKEND_ModelInstance* instance, OpenRequests* open,
            std::vector<TRITONBACKEND_Request*> requests, bool batching);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // Has the process execute them, and takes its answers. UNAVAILABLE when it has ended, and nobody
  // is answered then.
  Error Run(Transport* transport);
  // Answers all that are not answered yet with `error`.
  void FailAll(const Error& error);
  // Reports statistics and releases the requests.
  void Finish();

 private:
  struct Item {
    TRITONBACKEND_Request* request = nullptr;
    uint64_t number = 0;
    bool sent = false;    // to the process
    bool failed = false;  // answered with an error
    uint32_t release = TRITONSERVER_REQUEST_RELEASE_ALL;
  };

  Error Send(Transport* transport, std::string_view* reply);
  // What the process says to the requests that were sent.
  Error Take(std::string_view reply, const Transport& transport);
  void Answer(Item* item, const PythonResponse& response, const Transport& transport);
  void Fail(Item* item, const Error& error);
  void MarkComputed(uint64_t start, uint64_t end);
  void Report(uint64_t end);

  TRITONBACKEND_ModelInstance* const instance_;
  OpenRequests* const open_;
  const bool batching_;
  std::vector<Item> items_;
  const uint64_t start_;
  uint64_t compute_start_ = 0;
  uint64_t compute_end_ = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_EXECUTION_H_
