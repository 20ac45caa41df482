// SPDX-License-Identifier: Apache-2.0
// An application whose tensors are on a simulated GPU, and a model that computes on the CPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/capi/gpu_driver.h"
#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

TRITONSERVER_Error* GiveGpuMemory(TRITONSERVER_ResponseAllocator*, const char*, size_t byte_size,
                                  TRITONSERVER_MemoryType, int64_t, void* userp, void** buffer,
                                  void** buffer_userp, TRITONSERVER_MemoryType* type, int64_t* id) {
  *buffer = static_cast<Driver*>(userp)->Allocate(byte_size);
  *buffer_userp = userp;
  *type = TRITONSERVER_MEMORY_GPU;
  *id = 0;
  return nullptr;
}

TRITONSERVER_Error* TakeGpuMemory(TRITONSERVER_ResponseAllocator*, void* buffer, void* userp,
                                  size_t, TRITONSERVER_MemoryType type, int64_t) {
  EXPECT_EQ(type, TRITONSERVER_MEMORY_GPU);
  static_cast<Driver*>(userp)->Free(buffer);
  return nullptr;
}

constexpr char kOnGpuConfig[] = R"(backend: "testing"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] }
parameters { key: "behaviour" value { string_value: "gpu_identity" } }
)";
constexpr char kHandleByte = 'h';

TRITONSERVER_Error* DescribeGpuMemory(TRITONSERVER_ResponseAllocator*, const char*,
                                      TRITONSERVER_BufferAttributes* attributes, void*, void*) {
  std::string handle(64, kHandleByte);
  return TRITONSERVER_BufferAttributesSetCudaIpcHandle(attributes, handle.data());
}

// The response's parameter of that name; empty if it has none.
std::string ParameterOf(TRITONSERVER_InferenceResponse* response, const std::string& wanted) {
  uint32_t count = 0;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseParameterCount(response, &count)));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_INT;
    const void* value = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseParameter(response, i, &name, &type, &value)));
    if (name == wanted) return static_cast<const char*>(value);
  }
  return "";
}

TEST(GpuTest, ABackendGetsTheHandlesOfAnApplication) {
  Driver driver(1);
  Repository repository;
  repository.AddModel("gpu", kOnGpuConfig);
  const TestServer server(repository);
  const float value = 1;
  void* const given = driver.Allocate(sizeof(value));
  driver.Copy(given, &value, sizeof(value));
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  ASSERT_TRUE(
      Ok(TRITONSERVER_ResponseAllocatorNew(&allocator, GiveGpuMemory, TakeGpuMemory, nullptr)));
  ASSERT_TRUE(
      Ok(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(allocator, DescribeGpuMemory)));
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesNew(&attributes)));
  std::string handle(64, 'A');
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetByteSize(attributes, sizeof(value))));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_GPU)));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetCudaIpcHandle(attributes, handle.data())));
  DiaryAllocator unused;
  {
    Call call(server, "gpu", &unused);
    call.SetAllocator(allocator, &driver);
    const int64_t shape[] = {1, 1};
    TRITONSERVER_InferenceRequest* const request = call.request();
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32,
                                                         shape, 2)));
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
        request, "INPUT0", given, attributes)));
    ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesDelete(attributes)));
    ASSERT_TRUE(Ok(call.Issue()));
    const ResponsePtr response = call.TakeResponse();
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseError(response.get())));
    std::string input, output;
    for (int i = 0; i < 64; ++i) {
      input += "41";
      output += "68";
    }
    EXPECT_EQ(ParameterOf(response.get(), "input_ipc_handle"), input);
    EXPECT_EQ(ParameterOf(response.get(), "output_ipc_handle"), output);
  }
  EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator)));
  driver.Free(given);
}

TEST(GpuTest, AModelOnTheCpuReadsAndWritesMemoryOfAGpu) {
  Driver driver(1);
  Repository repository;
  repository.AddModel("id", IdentityConfig());
  const TestServer server(repository);
  const std::vector<float> values = {1, 2, 3};
  const size_t byte_size = values.size() * sizeof(float);
  void* const given = driver.Allocate(byte_size);
  driver.Copy(given, values.data(), byte_size);

  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  ASSERT_TRUE(
      Ok(TRITONSERVER_ResponseAllocatorNew(&allocator, GiveGpuMemory, TakeGpuMemory, nullptr)));
  DiaryAllocator unused;
  {
    Call call(server, "id", &unused);
    call.SetAllocator(allocator, &driver);
    const int64_t shape[] = {1, 3};
    TRITONSERVER_InferenceRequest* const request = call.request();
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32,
                                                         shape, 2)));
    EXPECT_TRUE(Fails(TRITONSERVER_InferenceRequestAppendInputData(
                          request, "INPUT0", given, byte_size, TRITONSERVER_MEMORY_GPU, 1),
                      TRITONSERVER_ERROR_UNSUPPORTED, "is in GPU memory"))
        << "there is no such GPU";
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", given, byte_size,
                                                                TRITONSERVER_MEMORY_GPU, 0)));
    ASSERT_TRUE(Ok(call.Issue()));
    const ResponsePtr response = call.TakeResponse();
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseError(response.get())));
    const char* name = nullptr;
    TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
    const int64_t* dims = nullptr;
    uint64_t dim_count = 0;
    const void* base = nullptr;
    size_t got = 0;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t id = -1;
    void* userp = nullptr;
    ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseOutput(
        response.get(), 0, &name, &data_type, &dims, &dim_count, &base, &got, &type, &id, &userp)));
    EXPECT_EQ(type, TRITONSERVER_MEMORY_GPU);
    EXPECT_EQ(id, 0);
    ASSERT_EQ(got, byte_size);
    std::vector<float> found(values.size());
    driver.Copy(found.data(), base, byte_size);
    EXPECT_EQ(found, values);
  }
  EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator)));
  driver.Free(given);
}

}  // namespace
}  // namespace nereid_test
