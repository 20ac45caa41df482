// SPDX-License-Identifier: Apache-2.0
// One pass through a scenario of the C API during which something may fail on purpose, and a
// request that ends properly whatever fails. Thread-compatible, except for the callbacks.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_PROBE_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_PROBE_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/capi/faults/faults.h"
#include "tests/conformance/capi/storm/storm_call.h"
#include "triton/core/tritonserver.h"

namespace nereid_test {

// Calls functions of the C API inside a window of faults. After the first failure the scenario
// stops, and destroys what it has built, outside the window.
class Probe {
 public:
  // Whether `call`, which returns TRITONSERVER_Error*, succeeded.
  template <typename Call>
  bool operator()(const Call& call) {
    TRITONSERVER_Error* error;
    {
      const faults::Window window;
      error = call();
    }
    if (error == nullptr) return true;
    failure_ = TRITONSERVER_ErrorMessage(error);
    TRITONSERVER_ErrorDelete(error);
    return false;
  }
  // Whether `make` created an object.
  template <typename Make>
  bool Makes(const Make& make) {
    const faults::Window window;
    return make();
  }
  // Records a failure found in another way.
  void Fail(std::string failure) { failure_ = std::move(failure); }
  // The error of the call that failed last; empty if none did.
  const std::string& failure() const { return failure_; }

 private:
  std::string failure_;
};

// A request, from its creation to its end. Its answer is either right or an error.
class ProbeFlight {
 public:
  explicit ProbeFlight(TRITONSERVER_Server* server) : server_(server) {}
  // Ends the process if a request in flight does not come back.
  ~ProbeFlight();
  ProbeFlight(const ProbeFlight&) = delete;
  ProbeFlight& operator=(const ProbeFlight&) = delete;

  // Builds the request, issues it, and waits for it. False if a call or the answer failed; `probe`
  // has the error.
  bool Run(const StormRequest& asked, Probe* probe);
  // As Run, but without waiting. With `cancel`, the request is cancelled when it is issued.
  bool Issue(const StormRequest& asked, Probe* probe, bool cancel = false);
  bool Wait(Probe* probe);

 private:
  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*,
                                      size_t byte_size, TRITONSERVER_MemoryType, int64_t,
                                      void* userp, void** buffer, void** buffer_userp,
                                      TRITONSERVER_MemoryType* type, int64_t* id);
  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer,
                                     void* buffer_userp, size_t, TRITONSERVER_MemoryType, int64_t);
  static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp);
  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp);
  bool Build(Probe* probe);
  void Take(TRITONSERVER_InferenceResponse* response);

  TRITONSERVER_Server* const server_;
  StormRequest asked_;
  TRITONSERVER_InferenceRequest* request_ = nullptr;
  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;

  std::mutex mu_;
  std::condition_variable changed_;
  bool in_flight_ = false;
  bool released_ = false;
  bool final_ = false;
  int64_t buffers_ = 0;
  size_t answers_ = 0;
  std::string error_;
};

}  // namespace nereid_test

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_PROBE_H_
