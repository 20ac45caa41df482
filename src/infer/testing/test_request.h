// SPDX-License-Identifier: Apache-2.0
// TestRequest: the application's side of one request: it owns the request and its data, and
// records what comes back. Thread-compatible, but for the marked members and for what the core
// does with the request in flight.
#ifndef NEREID_INFER_TESTING_TEST_REQUEST_H_
#define NEREID_INFER_TESTING_TEST_REQUEST_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "memory/output_allocator.h"

namespace nereid {

class TestRequest {
 public:
  // One call of the response callback.
  struct Answer {
    std::unique_ptr<InferResponse> response;  // null when only flags came
    uint32_t flags = 0;

    bool is_final() const { return (flags & kResponseCompleteFinal) != 0; }
    absl::Status status() const {
      return response == nullptr ? absl::OkStatus() : response->status();
    }
  };

  explicit TestRequest(std::shared_ptr<ServingModel> model);
  // REQUIRES: released, or never issued.
  ~TestRequest();
  TestRequest(const TestRequest&) = delete;
  TestRequest& operator=(const TestRequest&) = delete;

  InferRequest* get() { return request_.get(); }
  InferRequest* operator->() { return request_.get(); }

  // Adds an input and keeps its bytes. The input must be new to the request.
  InferInput* Input(std::string name, DataType type, const Shape& shape, std::string bytes);
  // The same, with as many zero bytes as the shape asks for. REQUIRES: not BYTES.
  InferInput* Input(std::string name, DataType type, const Shape& shape);
  // `text` as one element of a BYTES tensor: its length, then the characters.
  static std::string StringElement(absl::string_view text);

  // Takes the request into flight, as Server::Infer does up to the scheduler. Ends the process if
  // the request is not valid for its model: tests of invalid requests use RequestValidator.
  RequestPtr Issue();
  // The same, with a pass that the caller has taken.
  RequestPtr IssueInside(ModelPass pass);
  // Undoes Issue for a request that its scheduler did not take.
  void TakeBack(RequestPtr owned);

  // Further responses are wanted only while `credit` says so. REQUIRES: not issued.
  void set_credit(std::shared_ptr<ResponseCredit> credit) {
    ResponseTarget target = request_->response_target();
    target.credit = std::move(credit);
    request_->set_response_target(target);
  }

  // Outputs go to memory of a GPU. REQUIRES: not issued.
  void AnswerOnGpu() {
    ResponseTarget target = request_->response_target();
    target.on_gpu = true;
    request_->set_response_target(target);
  }

  // ---- What came back. Thread-safe.
  size_t answer_count() const ABSL_LOCKS_EXCLUDED(mu_);
  int releases() const ABSL_LOCKS_EXCLUDED(mu_);
  uint32_t release_flags() const ABSL_LOCKS_EXCLUDED(mu_);
  // Status of the final answer; UNKNOWN while there is none.
  absl::Status final_status() const ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until the request was released and a final answer came.
  void WaitDone() ABSL_LOCKS_EXCLUDED(mu_);
  // REQUIRES: index < answer_count(). The answer stays here.
  Answer& answer(size_t index) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Ends the process for a mistake of the test itself, because there is no assertion library here.
  static void Require(bool condition, absl::string_view what);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  const Answer* Final() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const HeapOutputAllocator allocator_{nullptr};
  std::deque<std::string> data_;  // a deque, so that the addresses stay valid
  std::unique_ptr<InferRequest> request_;
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Answer> answers_ ABSL_GUARDED_BY(mu_);
  int releases_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t release_flags_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_INFER_TESTING_TEST_REQUEST_H_
