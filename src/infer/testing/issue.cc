// SPDX-License-Identifier: Apache-2.0
// The part of TestRequest that stands in for Server::Infer. It has its own file, because tests that
// link the whole library use the real Server::Infer and cannot link what this file calls.
#include <utility>

#include "infer/request_validator.h"
#include "infer/testing/test_request.h"

namespace nereid {

RequestPtr TestRequest::Issue() {
  ModelPass pass = ModelPass::Enter(request_->model());
  Require(static_cast<bool>(pass), "the model is closed");
  return IssueInside(std::move(pass));
}

RequestPtr TestRequest::IssueInside(ModelPass pass) {
  InferRequest& request = *request_;
  Require(request.lifecycle().MoveTo(RequestState::kInitialized, "").ok(), "still in flight");
  const absl::Status prepared = RequestValidator::Prepare(&request);
  Require(prepared.ok(), prepared.message());
  request.BeginFlight(std::move(pass), ToNanos(request.model()->clock()->Now()));
  Require(request.lifecycle().MoveTo(RequestState::kPending, "").ok(), "cannot become pending");
  request.model()->statistics().AddPending(1);
  return RequestPtr(&request);
}

void TestRequest::TakeBack(RequestPtr owned) {
  InferRequest* const back = owned.release();
  Require(back == request_.get(), "another request came back");
  back->model()->statistics().AddPending(-1);
  Require(back->lifecycle().MoveTo(RequestState::kFailedEnqueue, "").ok(), "was not pending");
  back->AbortFlight();
}

}  // namespace nereid
