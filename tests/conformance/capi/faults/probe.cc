// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capi/faults/probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "nereid/server.h"

namespace nereid_test {
namespace {

// A request that takes longer than this is lost.
constexpr std::chrono::seconds kLost(60);

}  // namespace

ProbeFlight::~ProbeFlight() {
  if (request_ != nullptr) {
    Probe unused;
    Wait(&unused);
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(request_)));
  }
  if (allocator_ != nullptr) {
    EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator_)));
  }
  EXPECT_EQ(buffers_, 0) << asked_.model;
}

bool ProbeFlight::Run(const StormRequest& asked, Probe* probe) {
  return Issue(asked, probe) && Wait(probe);
}

bool ProbeFlight::Build(Probe* probe) {
  Probe& call = *probe;
  if (!call([&] {
        return TRITONSERVER_ResponseAllocatorNew(&allocator_, Allocate, Release, nullptr);
      }))
    return false;
  if (!call([&] {
        return TRITONSERVER_InferenceRequestNew(&request_, server_, asked_.model.c_str(), -1);
      })) {
    return false;
  }
  for (const StormInput& input : asked_.inputs) {
    const char* const name = input.name.c_str();
    if (!call([&] {
          return TRITONSERVER_InferenceRequestAddInput(request_, name, input.type,
                                                       input.shape.data(), input.shape.size());
        }) ||
        !call([&] {
          return TRITONSERVER_InferenceRequestAppendInputData(
              request_, name, input.bytes.data(), input.bytes.size(), TRITONSERVER_MEMORY_CPU, 0);
        })) {
      return false;
    }
  }
  if (asked_.correlation_id != 0 && (!call([&] {
        return TRITONSERVER_InferenceRequestSetCorrelationId(request_, asked_.correlation_id);
      }) || !call([&] { return TRITONSERVER_InferenceRequestSetFlags(request_, asked_.flags); }))) {
    return false;
  }
  return call([&] {
           return TRITONSERVER_InferenceRequestSetId(request_,
                                                     "a request of the probe, with a name");
         }) &&
         call([&] {
           return TRITONSERVER_InferenceRequestSetStringParameter(
               request_, "a parameter with a name", "and a value that is long");
         }) &&
         call([&] {
           return TRITONSERVER_InferenceRequestAddRequestedOutput(request_, asked_.output.c_str());
         }) &&
         call([&] {
           return TRITONSERVER_InferenceRequestSetReleaseCallback(request_, OnRelease, this);
         }) &&
         call([&] {
           return TRITONSERVER_InferenceRequestSetResponseCallback(request_, allocator_, this,
                                                                   OnResponse, this);
         });
}

bool ProbeFlight::Issue(const StormRequest& asked, Probe* probe, bool cancel) {
  asked_ = asked;
  if (!Build(probe)) return false;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    in_flight_ = true;
  }
  const auto infer = cancel ? TRITONSERVER_ServerInferAsync : NEREID_ServerInferInline;
  if (!(*probe)([&] { return infer(server_, request_, nullptr); })) {
    const std::lock_guard<std::mutex> lock(mu_);
    in_flight_ = false;
    EXPECT_FALSE(released_ || final_) << asked_.model << ": refused, and came back by a callback";
    return false;
  }
  return !cancel || (*probe)([&] { return TRITONSERVER_InferenceRequestCancel(request_); });
}

bool ProbeFlight::Wait(Probe* probe) {
  std::unique_lock<std::mutex> lock(mu_);
  if (!changed_.wait_for(lock, kLost, [this] { return !in_flight_ || (released_ && final_); })) {
    std::fprintf(stderr, "%s: the request is lost (released %d, final %d)\n", asked_.model.c_str(),
                 released_, final_);
    std::abort();
  }
  if (!in_flight_) return false;
  in_flight_ = false;
  if (error_.empty() && answers_ != asked_.expected.size()) error_ = "an answer is missing";
  if (error_.empty()) return true;
  probe->Fail(error_);
  return false;
}

TRITONSERVER_Error* ProbeFlight::Allocate(TRITONSERVER_ResponseAllocator*, const char*,
                                          size_t byte_size, TRITONSERVER_MemoryType, int64_t,
                                          void* userp, void** buffer, void** buffer_userp,
                                          TRITONSERVER_MemoryType* type, int64_t* id) {
  const faults::Pause pause;
  auto* const self = static_cast<ProbeFlight*>(userp);
  *type = TRITONSERVER_MEMORY_CPU;
  *id = 0;
  *buffer_userp = userp;
  if (byte_size == 0) return nullptr;
  *buffer = malloc(byte_size);
  const std::lock_guard<std::mutex> lock(self->mu_);
  ++self->buffers_;
  return nullptr;
}

TRITONSERVER_Error* ProbeFlight::Release(TRITONSERVER_ResponseAllocator*, void* buffer,
                                         void* buffer_userp, size_t, TRITONSERVER_MemoryType,
                                         int64_t) {
  const faults::Pause pause;
  if (buffer == nullptr) return nullptr;
  auto* const self = static_cast<ProbeFlight*>(buffer_userp);
  free(buffer);
  const std::lock_guard<std::mutex> lock(self->mu_);
  --self->buffers_;
  return nullptr;
}

void ProbeFlight::OnRelease(TRITONSERVER_InferenceRequest*, uint32_t, void* userp) {
  const faults::Pause pause;
  auto* const self = static_cast<ProbeFlight*>(userp);
  const std::lock_guard<std::mutex> lock(self->mu_);
  EXPECT_FALSE(self->released_) << self->asked_.model << ": released twice";
  self->released_ = true;
  self->changed_.notify_all();
}

void ProbeFlight::OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags,
                             void* userp) {
  const faults::Pause pause;
  auto* const self = static_cast<ProbeFlight*>(userp);
  std::unique_lock<std::mutex> lock(self->mu_);
  EXPECT_FALSE(self->final_) << self->asked_.model << ": a response after the final one";
  lock.unlock();  // deleting a response calls the allocator
  if (response != nullptr) self->Take(response);
  lock.lock();
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) == 0) return;
  self->final_ = true;
  self->changed_.notify_all();
}

void ProbeFlight::Take(TRITONSERVER_InferenceResponse* response) {
  if (TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response)) {
    error_ = TRITONSERVER_ErrorMessage(error);
    if (error_.empty()) error_ = TRITONSERVER_ErrorCodeString(error);
    TRITONSERVER_ErrorDelete(error);
  } else {
    const char* name = nullptr;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    const int64_t* shape = nullptr;
    uint64_t dim_count = 0;
    const void* base = nullptr;
    size_t byte_size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    void* buffer_userp = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseOutput(response, 0, &name, &type, &shape,
                                                        &dim_count, &base, &byte_size, &memory_type,
                                                        &memory_type_id, &buffer_userp)));
    ASSERT_LT(answers_, asked_.expected.size()) << asked_.model;
    EXPECT_EQ(std::string(static_cast<const char*>(base), byte_size), asked_.expected[answers_])
        << asked_.model << ": a wrong answer";
    ++answers_;
  }
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseDelete(response)));
}

}  // namespace nereid_test
