// SPDX-License-Identifier: Apache-2.0
#include "infer/testing/test_request.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

namespace nereid {

void TestRequest::Require(bool condition, absl::string_view what) {
  if (condition) return;
  std::cerr << "TestRequest: " << what << std::endl;
  std::abort();
}

TestRequest::TestRequest(std::shared_ptr<ServingModel> model)
    : request_(std::make_unique<InferRequest>(std::move(model), /*requested_version=*/-1)) {
  ResponseTarget responses;
  responses.fn = &TestRequest::OnResponse;
  responses.userp = this;
  responses.allocator = &allocator_;
  request_->set_response_target(responses);
  ReleaseTarget releases;
  releases.fn = &TestRequest::OnRelease;
  releases.userp = this;
  request_->set_release_target(releases);
}

TestRequest::~TestRequest() = default;

InferInput* TestRequest::Input(std::string name, DataType type, const Shape& shape,
                               std::string bytes) {
  data_.push_back(std::move(bytes));
  absl::StatusOr<InferInput*> input = request_->AddInput(std::move(name), type, shape);
  Require(input.ok(), "the input is there already");
  (*input)->AppendBuffer({data_.back().data(), data_.back().size(), MemoryPlace{}});
  return *input;
}

InferInput* TestRequest::Input(std::string name, DataType type, const Shape& shape) {
  const std::optional<int64_t> size = TensorByteSize(type, shape);
  Require(size.has_value(), "the shape has no byte size");
  return Input(std::move(name), type, shape, std::string(static_cast<size_t>(*size), '\0'));
}

std::string TestRequest::StringElement(absl::string_view text) {
  const uint32_t length = static_cast<uint32_t>(text.size());
  std::string element(sizeof(length), '\0');
  std::memcpy(element.data(), &length, sizeof(length));
  element.append(text.data(), text.size());
  return element;
}

size_t TestRequest::answer_count() const {
  MutexLock lock(&mu_);
  return answers_.size();
}

int TestRequest::releases() const {
  MutexLock lock(&mu_);
  return releases_;
}

uint32_t TestRequest::release_flags() const {
  MutexLock lock(&mu_);
  return release_flags_;
}

const TestRequest::Answer* TestRequest::Final() const {
  for (const Answer& answer : answers_) {
    if (answer.is_final()) return &answer;
  }
  return nullptr;
}

absl::Status TestRequest::final_status() const {
  MutexLock lock(&mu_);
  const Answer* const final = Final();
  return final == nullptr ? absl::UnknownError("no final answer") : final->status();
}

void TestRequest::WaitDone() {
  MutexLock lock(&mu_);
  while (releases_ == 0 || Final() == nullptr) changed_.Wait(&mu_);
}

TestRequest::Answer& TestRequest::answer(size_t index) {
  MutexLock lock(&mu_);
  return answers_.at(index);
}

void TestRequest::OnResponse(InferResponse* response, uint32_t flags,
                             const ResponseTarget& target) {
  auto* const self = static_cast<TestRequest*>(target.userp);
  // Notified under the lock: the waiting thread may destroy the object once it sees the answer.
  MutexLock lock(&self->mu_);
  self->answers_.push_back({std::unique_ptr<InferResponse>(response), flags});
  self->changed_.NotifyAll();
}

void TestRequest::OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  auto* const self = static_cast<TestRequest*>(target.userp);
  Require(request == self->request_.get(), "another request came back");
  MutexLock lock(&self->mu_);
  ++self->releases_;
  self->release_flags_ = flags;
  self->changed_.NotifyAll();
}

}  // namespace nereid
