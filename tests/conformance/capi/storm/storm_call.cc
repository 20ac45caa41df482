// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capi/storm/storm_call.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "nereid/server.h"
#include "tests/conformance/capi/faults/faults.h"

namespace nereid_test {
namespace {

constexpr size_t kGraves = 2000;

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t byte_size,
                             TRITONSERVER_MemoryType, int64_t, void* userp, void** buffer,
                             void** buffer_userp, TRITONSERVER_MemoryType* actual_memory_type,
                             int64_t* actual_memory_type_id) {
  const faults::Pause pause;
  *actual_memory_type = TRITONSERVER_MEMORY_CPU;
  *actual_memory_type_id = 0;
  *buffer_userp = userp;
  if (byte_size == 0) return nullptr;
  *buffer = malloc(byte_size);
  ++static_cast<StormLedger*>(userp)->buffers;
  return nullptr;
}

TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer, void* buffer_userp,
                            size_t, TRITONSERVER_MemoryType, int64_t) {
  if (buffer == nullptr) return nullptr;
  free(buffer);
  --static_cast<StormLedger*>(buffer_userp)->buffers;
  return nullptr;
}

// The bytes of output `name`, which must exist.
std::string OutputBytes(TRITONSERVER_InferenceResponse* response, const std::string& name) {
  uint32_t count = 0;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseOutputCount(response, &count)));
  for (uint32_t i = 0; i < count; ++i) {
    const char* found = nullptr;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    const int64_t* shape = nullptr;
    uint64_t dim_count = 0;
    const void* base = nullptr;
    size_t byte_size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    void* userp = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseOutput(response, i, &found, &type, &shape,
                                                        &dim_count, &base, &byte_size, &memory_type,
                                                        &memory_type_id, &userp)));
    if (name == found) return std::string(static_cast<const char*>(base), byte_size);
  }
  ADD_FAILURE() << "no output " << name;
  return "";
}

}  // namespace

// ---- StormLedger

StormLedger::StormLedger() {
  EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorNew(&allocator_, Allocate, Release, nullptr)));
}

StormLedger::~StormLedger() {
  graveyard_.clear();
  EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator_)));
}

void StormLedger::Bury(std::shared_ptr<void> call) {
  std::shared_ptr<void> oldest;  // destroyed without the lock
  std::lock_guard<std::mutex> lock(mu_);
  ++buried_;
  graveyard_.push_back(std::move(call));
  if (graveyard_.size() > kGraves) {
    oldest = std::move(graveyard_.front());
    graveyard_.pop_front();
  }
  changed_.notify_all();
}

void StormLedger::WaitForAll() {
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait(lock, [this] { return buried_ == issued; });
}

// ---- StormCall

std::shared_ptr<StormCall> StormCall::New(TRITONSERVER_Server* server, StormRequest request,
                                          Deletion deletion, StormLedger* ledger) {
  std::shared_ptr<StormCall> call(new StormCall(server, std::move(request), deletion, ledger));
  return call->Build() ? call : nullptr;
}

template <typename Function>
bool StormCall::Succeeds(const Function& function) const {
  TRITONSERVER_Error* error;
  {
    const faults::Window window;
    error = function();
  }
  if (error == nullptr) return true;
  EXPECT_TRUE(IsWant(error)) << asked_.model << ": " << TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  ++ledger_->wanting;
  return false;
}

bool StormCall::IsWant(TRITONSERVER_Error* error) const {
  return ledger_->faults && TRITONSERVER_ErrorCode(error) == TRITONSERVER_ERROR_UNAVAILABLE;
}

bool StormCall::Build() {
  TRITONSERVER_Error* error;
  {
    const faults::Window window;
    error = TRITONSERVER_InferenceRequestNew(&request_, server_, asked_.model.c_str(), -1);
  }
  if (error != nullptr) {
    CheckRefusal(error);
    return false;
  }
  for (const StormInput& input : asked_.inputs) {
    const char* const name = input.name.c_str();
    if (!Succeeds([&] {
          return TRITONSERVER_InferenceRequestAddInput(request_, name, input.type,
                                                       input.shape.data(), input.shape.size());
        }) ||
        !Succeeds([&] {
          return TRITONSERVER_InferenceRequestAppendInputData(
              request_, name, input.bytes.data(), input.bytes.size(), TRITONSERVER_MEMORY_CPU, 0);
        })) {
      return false;
    }
  }
  if (asked_.priority != 0) {
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetPriorityUInt64(request_, asked_.priority)));
  }
  if (asked_.timeout_us != 0) {
    EXPECT_TRUE(
        Ok(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request_, asked_.timeout_us)));
  }
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(request_, OnRelease, this)));
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetResponseCallback(request_, ledger_->allocator(),
                                                                  ledger_, OnResponse, this)));
  return true;
}

void StormCall::CheckRefusal(TRITONSERVER_Error* error) const {
  // NOT_FOUND if the model has just been unloaded.
  const TRITONSERVER_Error_Code code = TRITONSERVER_ErrorCode(error);
  EXPECT_TRUE(IsWant(error) ||
              ((asked_.may_be_refused || ledger_->stopping) &&
               (code == TRITONSERVER_ERROR_NOT_FOUND || code == TRITONSERVER_ERROR_UNAVAILABLE)))
      << asked_.model << ": " << TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
}

StormCall::~StormCall() {
  EXPECT_EQ(released_, flights_) << asked_.model;
  EXPECT_EQ(finals_, flights_) << asked_.model;
  if (request_ == nullptr) return;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(request_)));
}

bool StormCall::Issue() {
  const std::lock_guard<std::mutex> request_lock(request_mu_);
  TRITONSERVER_InferenceRequest* const request = request_;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    ++flights_;
    responses_ = 0;
    failed_ = false;
    self_ = shared_from_this();
    // The callback that deletes it may run before the call below has returned.
    if (deletion_ == Deletion::kByCallback) request_ = nullptr;
  }
  const bool lends = ++ledger_->issued % 2 == 0;
  TRITONSERVER_Error* error;
  {
    const faults::Window window;
    error = (lends ? NEREID_ServerInferInline : TRITONSERVER_ServerInferAsync)(server_, request,
                                                                               nullptr);
  }
  refused_ = error != nullptr;
  if (!refused_) return true;
  CheckRefusal(error);
  --ledger_->issued;
  ++ledger_->refused;
  const std::lock_guard<std::mutex> lock(mu_);
  --flights_;
  self_.reset();
  request_ = request;
  return false;
}

void StormCall::Cancel() {
  const std::lock_guard<std::mutex> request_lock(request_mu_);
  if (refused_) return;
  cancelled_ = true;
  Succeeds([&] { return TRITONSERVER_InferenceRequestCancel(request_); });
  bool cancelled = false;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestIsCancelled(request_, &cancelled)));
}

void StormCall::Wait() {
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait(lock, [this] { return released_ == flights_ && finals_ == flights_; });
}

bool StormCall::done() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return released_ == flights_ && finals_ == flights_;
}

void StormCall::OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp) {
  const faults::Pause pause;
  auto* const self = static_cast<StormCall*>(userp);
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_REQUEST_RELEASE_ALL));
  ++self->ledger_->released;
  if (self->deletion_ == Deletion::kByCallback) {
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(request)));
  }
  std::unique_lock<std::mutex> lock(self->mu_);
  ++self->released_;
  EXPECT_EQ(self->released_, self->flights_) << "released twice";
  self->AfterEvent(std::move(lock));
}

void StormCall::OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
  const faults::Pause pause;
  auto* const self = static_cast<StormCall*>(userp);
  std::unique_lock<std::mutex> lock(self->mu_);
  EXPECT_LT(self->finals_, self->flights_) << "a response after the final one";
  if (response != nullptr) self->Take(response);
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) == 0) return;
  ++self->finals_;
  ++self->ledger_->finals;
  // If memory is exhausted, the final flag comes without a response.
  if (self->ledger_->faults && self->responses_ == 0) self->failed_ = true;
  EXPECT_TRUE(self->asked_.decoupled || self->failed_ || self->responses_ == 1)
      << self->asked_.model;
  if (!self->failed_) {
    EXPECT_EQ(self->responses_, self->asked_.expected.size()) << self->asked_.model;
    EXPECT_FALSE(self->asked_.fails) << self->asked_.model;
    ++self->ledger_->right;
  }
  self->AfterEvent(std::move(lock));
}

void StormCall::Take(TRITONSERVER_InferenceResponse* response) {
  const size_t number = responses_++;
  if (TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response);
      error != nullptr) {
    TakeError(error);
  } else if (number >= asked_.expected.size()) {
    ADD_FAILURE() << asked_.model << ": response " << number << " of " << asked_.expected.size();
  } else {
    EXPECT_TRUE(OutputBytes(response, asked_.output) == asked_.expected[number])
        << asked_.model << ": a wrong answer";
  }
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseDelete(response)));
}

void StormCall::TakeError(TRITONSERVER_Error* error) {
  const TRITONSERVER_Error_Code code = TRITONSERVER_ErrorCode(error);
  const bool allowed =
      IsWant(error) || (code == TRITONSERVER_ERROR_CANCELLED && cancelled_) ||
      (code == TRITONSERVER_ERROR_INVALID_ARG && asked_.fails) ||
      (code == TRITONSERVER_ERROR_UNAVAILABLE && (asked_.may_be_refused || ledger_->stopping));
  EXPECT_TRUE(allowed) << asked_.model << ": " << TRITONSERVER_ErrorCodeString(error) << ": "
                       << TRITONSERVER_ErrorMessage(error);
  ++ledger_->errors.at(static_cast<size_t>(code));
  failed_ = true;
  TRITONSERVER_ErrorDelete(error);
}

void StormCall::AfterEvent(std::unique_lock<std::mutex> lock) {
  if (released_ != flights_ || finals_ != flights_) return;
  std::shared_ptr<StormCall> self = std::move(self_);
  changed_.notify_all();
  lock.unlock();
  ledger_->Bury(std::move(self));
}

}  // namespace nereid_test
