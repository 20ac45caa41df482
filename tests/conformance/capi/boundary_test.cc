// SPDX-License-Identifier: Apache-2.0
// No exception crosses the C API: neither one of the library into the application, nor one of a
// callback into the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::HasSubstr;

constexpr size_t kTooMuch = std::numeric_limits<size_t>::max();

TEST(Boundary, AskingForTheImpossibleIsAnError) {
  TRITONSERVER_Message* message = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_MessageNewFromSerializedJson(&message, "{}", kTooMuch),
                    TRITONSERVER_ERROR_INTERNAL, "the call ended with an exception"));
  EXPECT_EQ(message, nullptr);

  TRITONSERVER_MetricArgs* args = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_MetricArgsNew(&args)));
  const double bucket = 1;
  EXPECT_TRUE(Fails(TRITONSERVER_MetricArgsSetHistogram(args, &bucket, kTooMuch / sizeof(bucket)),
                    TRITONSERVER_ERROR_INTERNAL, "the call ended with an exception"));
  TRITONSERVER_MetricFamily* family = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_HISTOGRAM,
                                              "without_buckets", "of a refused call")));
  TRITONSERVER_Metric* metric = nullptr;
  EXPECT_TRUE(Fails(TRITONSERVER_MetricNewWithArgs(&metric, family, nullptr, 0, args),
                    TRITONSERVER_ERROR_INVALID_ARG, "Metric args not set to histogram kind."));
  EXPECT_TRUE(Ok(TRITONSERVER_MetricFamilyDelete(family)));
  EXPECT_TRUE(Ok(TRITONSERVER_MetricArgsDelete(args)));
}

// An allocator whose callback `what` throws.
class ThrowingAllocator {
 public:
  explicit ThrowingAllocator(const std::string& what) : what_(what) {
    EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorNew(&allocator_, Allocate, Release, Start)));
    EXPECT_TRUE(
        Ok(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(allocator_, Attributes)));
  }
  ~ThrowingAllocator() {
    EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator_)));
    EXPECT_EQ(buffers_, 0);
  }
  TRITONSERVER_ResponseAllocator* get() const { return allocator_; }

 private:
  void Reach(const std::string& callback) const {
    if (callback == what_) throw std::runtime_error("thrown by " + callback);
  }
  static TRITONSERVER_Error* Start(TRITONSERVER_ResponseAllocator*, void* userp) {
    static_cast<ThrowingAllocator*>(userp)->Reach("start");
    return nullptr;
  }
  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*,
                                      size_t byte_size, TRITONSERVER_MemoryType, int64_t,
                                      void* userp, void** buffer, void** buffer_userp,
                                      TRITONSERVER_MemoryType* type, int64_t* id) {
    auto* self = static_cast<ThrowingAllocator*>(userp);
    self->Reach("allocate");
    *buffer = malloc(byte_size);
    *buffer_userp = self;
    *type = TRITONSERVER_MEMORY_CPU;
    *id = 0;
    ++self->buffers_;
    return nullptr;
  }
  static TRITONSERVER_Error* Attributes(TRITONSERVER_ResponseAllocator*, const char*,
                                        TRITONSERVER_BufferAttributes*, void* userp, void*) {
    static_cast<ThrowingAllocator*>(userp)->Reach("attributes");
    return nullptr;
  }
  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer,
                                     void* buffer_userp, size_t, TRITONSERVER_MemoryType, int64_t) {
    auto* self = static_cast<ThrowingAllocator*>(buffer_userp);
    free(buffer);
    --self->buffers_;
    self->Reach("release");
    return nullptr;
  }

  const std::string what_;
  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;
  int buffers_ = 0;  // of one request at a time
};

class ThrowingCallbacks : public testing::Test {
 protected:
  ThrowingCallbacks() {
    repository_.AddModel("identity", IdentityConfig());
    server_ = std::make_unique<TestServer>(repository_);
  }

  // The answer to a request whose allocator throws in `callback`.
  void Infer(const std::string& callback, std::string* error) {
    ThrowingAllocator throwing(callback);
    DiaryAllocator unused;
    Call call(*server_, "identity", &unused);
    call.AddFloats("INPUT0", {1, 2}, {1, 2});
    call.SetAllocator(throwing.get(), &throwing);
    ASSERT_TRUE(Ok(call.Issue()));
    const ResponsePtr response = call.TakeResponse();
    ASSERT_NE(response, nullptr);
    *error = "";
    if (TRITONSERVER_Error* failed = TRITONSERVER_InferenceResponseError(response.get())) {
      *error = TRITONSERVER_ErrorMessage(failed);
      TRITONSERVER_ErrorDelete(failed);
    }
  }

  Repository repository_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(ThrowingCallbacks, OfAnAllocatorFailTheRequest) {
  std::string error;
  for (const std::string callback : {"allocate", "attributes"}) {
    Infer(callback, &error);
    EXPECT_THAT(error, HasSubstr("callback threw an exception: thrown by " + callback));
  }
  Infer("release", &error);
  EXPECT_EQ(error, "");  // the answer was complete
  Infer("", &error);
  EXPECT_EQ(error, "");
}

TEST_F(ThrowingCallbacks, OfARequestEndIt) {
  struct Flight {
    std::mutex mu;
    std::condition_variable changed;
    int ends = 0;

    void End() {
      std::lock_guard<std::mutex> lock(mu);
      ++ends;
      changed.notify_all();
    }
    static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t, void* userp) {
      TRITONSERVER_InferenceRequestDelete(request);
      static_cast<Flight*>(userp)->End();
      throw std::runtime_error("thrown by release");
    }
    static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t, void* userp) {
      TRITONSERVER_InferenceResponseDelete(response);
      static_cast<Flight*>(userp)->End();
      throw 7;
    }
  };
  Flight flight;
  ThrowingAllocator allocator("");
  TRITONSERVER_InferenceRequest* request = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestNew(&request, server_->get(), "identity", -1)));
  ASSERT_TRUE(
      Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(request, Flight::OnRelease, &flight)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestSetResponseCallback(
      request, allocator.get(), &allocator, Flight::OnResponse, &flight)));
  const int64_t shape[] = {1, 1};
  const float value = 1;
  ASSERT_TRUE(Ok(
      TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 2)));
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
      request, "INPUT0", &value, sizeof(value), TRITONSERVER_MEMORY_CPU, 0)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerInferAsync(server_->get(), request, nullptr)));
  {
    std::unique_lock<std::mutex> lock(flight.mu);
    flight.changed.wait(lock, [&] { return flight.ends == 2; });
  }
  server_->Delete();  // the server can end, so it has lost no request
}

}  // namespace
}  // namespace nereid_test
