// SPDX-License-Identifier: Apache-2.0
// One request of the storm, from its creation to its end, and the ledger in which all requests are
// counted. The assertions hold whatever happens to a request: it is released once, it gets one
// final answer and nothing after that, and each answer is right or an error that is allowed for the
// request.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_STORM_STORM_CALL_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_STORM_STORM_CALL_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/conformance/capi/harness.h"
#include "triton/core/tritonserver.h"

namespace nereid_test {

struct StormInput {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  std::string bytes;
};

// A request to a model, and its right answers. A plain value.
struct StormRequest {
  std::string model;
  std::vector<StormInput> inputs;
  std::string output;                 // the output to compare
  std::vector<std::string> expected;  // its bytes in each response, in order
  bool decoupled = false;             // otherwise: exactly one response
  bool fails = false;                 // must be answered with INVALID_ARG
  bool may_be_refused = false;        // UNAVAILABLE is not a failure: full queues, time-outs
  uint64_t priority = 0;
  uint64_t timeout_us = 0;
  uint64_t correlation_id = 0;  // 0: no sequence
  uint32_t flags = 0;           // its place in the sequence
};

// Counts over all threads. Thread-safe. Outlives all calls in flight and the server.
class StormLedger {
 public:
  StormLedger();
  ~StormLedger();
  StormLedger(const StormLedger&) = delete;
  StormLedger& operator=(const StormLedger&) = delete;

  TRITONSERVER_ResponseAllocator* allocator() const { return allocator_; }

  std::atomic<int64_t> issued{0};    // accepted by TRITONSERVER_ServerInferAsync
  std::atomic<int64_t> refused{0};   // not accepted: the call returned an error
  std::atomic<int64_t> released{0};  // release callbacks
  std::atomic<int64_t> finals{0};    // response callbacks with the final flag
  std::atomic<int64_t> right{0};     // requests answered as expected
  std::atomic<int64_t> buffers{0};   // allocator buffers not yet released
  // Error responses by TRITONSERVER_Error_Code.
  std::array<std::atomic<int64_t>, 16> errors{};
  // Allocations, threads and files fail at random, so calls and requests may fail for lack of a
  // resource.
  std::atomic<bool> faults{false};
  std::atomic<int64_t> wanting{0};  // calls that failed for that reason
  // From now on UNAVAILABLE is an allowed answer to every request.
  std::atomic<bool> stopping{false};

  // A call has ended. Keeps its record for a while, so that a surplus callback would find the
  // counts instead of freed memory.
  void Bury(std::shared_ptr<void> call);
  // Waits until every issued call has ended.
  void WaitForAll();

 private:
  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;
  std::mutex mu_;
  std::condition_variable changed_;
  int64_t buried_ = 0;
  std::deque<std::shared_ptr<void>> graveyard_;
};

// Thread-safe unless noted. Held by std::shared_ptr; in flight it keeps itself alive.
class StormCall : public std::enable_shared_from_this<StormCall> {
 public:
  enum class Deletion {
    kByOwner,     // the owner waits, then deletes or issues it again
    kByCallback,  // the release callback deletes the request, and response callbacks the responses
  };

  // Null if the server does not know the model (any more). `ledger` outlives the call.
  static std::shared_ptr<StormCall> New(TRITONSERVER_Server* server, StormRequest request,
                                        Deletion deletion, StormLedger* ledger);
  ~StormCall();

  // False if the server refuses it; then no callback comes. Only the owner calls this.
  bool Issue();
  // Like a frontend, which cancels at any time and from any thread. REQUIRES: kByOwner.
  void Cancel();
  // Waits until the request is released and has its final answer. REQUIRES: kByOwner, issued.
  void Wait();
  bool done() const;

 private:
  StormCall(TRITONSERVER_Server* server, StormRequest request, Deletion deletion,
            StormLedger* ledger)
      : server_(server), asked_(std::move(request)), deletion_(deletion), ledger_(ledger) {}
  bool Build();
  // Calls a function of the C API within a window of faults. False if it failed for lack of a
  // resource, which can only be due to faults.
  template <typename Function>
  bool Succeeds(const Function& function) const;
  // Whether faults may cause this error.
  bool IsWant(TRITONSERVER_Error* error) const;
  // Deletes `error`.
  void CheckRefusal(TRITONSERVER_Error* error) const;
  static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp);
  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp);
  // Checks one response and counts it.
  void Take(TRITONSERVER_InferenceResponse* response);
  void TakeError(TRITONSERVER_Error* error);
  // After a release or a final response. Unlocks `lock`.
  void AfterEvent(std::unique_lock<std::mutex> lock);

  TRITONSERVER_Server* const server_;
  const StormRequest asked_;
  const Deletion deletion_;
  StormLedger* const ledger_;

  std::mutex request_mu_;  // Issue, Cancel and the owner's deletion
  TRITONSERVER_InferenceRequest* request_ = nullptr;
  bool refused_ = false;  // by the last Issue, so there is nothing to cancel
  std::atomic<bool> cancelled_{false};

  mutable std::mutex mu_;
  std::condition_variable changed_;
  std::shared_ptr<StormCall> self_;  // in flight
  int flights_ = 0;                  // number of times issued
  int released_ = 0;
  int finals_ = 0;
  size_t responses_ = 0;  // of this flight, errors included
  bool failed_ = false;   // this flight
};

}  // namespace nereid_test

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_STORM_STORM_CALL_H_
