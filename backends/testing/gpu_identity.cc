// SPDX-License-Identifier: Apache-2.0
// Behaviour gpu_identity: the bytes of the first input go to the instance's GPU, are copied there,
// and come back as the first output. Input and output may be on a GPU themselves: the answer says
// where they were. Uses the server's memory and the driver itself, so the same code runs on a
// simulated GPU and on a real one.
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/sdk/log.h"
#include "backends/sdk/tensor.h"
#include "backends/testing/behaviours.h"
#include "backends/testing/placed.h"

namespace nereid_backend {
namespace {

// The driver's functions that are used here; each returns 0 or the number of an error.
struct Cuda {
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*release)(int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*stream_create)(void** stream, unsigned flags, int priority) = nullptr;
  int (*stream_destroy)(void* stream) = nullptr;
  int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void* stream) = nullptr;
  int (*synchronize)(void* stream) = nullptr;
};

Result<Cuda> FindCuda() {
  // The server has opened it, too, so that it stays.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error::Internal("testing backend: there is no CUDA driver");
  Cuda cuda;
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    return *function != nullptr;
  };
  const bool all =
      find("cuDeviceGet", &cuda.device_get) && find("cuDevicePrimaryCtxRetain", &cuda.retain) &&
      find("cuDevicePrimaryCtxRelease_v2", &cuda.release) &&
      find("cuCtxPushCurrent_v2", &cuda.push) && find("cuCtxPopCurrent_v2", &cuda.pop) &&
      find("cuStreamCreateWithPriority", &cuda.stream_create) &&
      find("cuStreamDestroy_v2", &cuda.stream_destroy) && find("cuMemcpyAsync", &cuda.copy) &&
      find("cuStreamSynchronize", &cuda.synchronize);
  if (!all) return Error::Internal("testing backend: the CUDA driver lacks a function");
  return cuda;
}

Error Check(int result, const char* what) {
  if (result == 0) return Error();
  return Error::Internal(StrCat("testing backend: ", what, " gave the CUDA error ", result));
}

// Memory of the server's.
class Allocation {
 public:
  static Result<Allocation> Allocate(TRITONBACKEND_MemoryManager* manager,
                                     TRITONSERVER_MemoryType type, int64_t id, size_t byte_size) {
    Allocation block;
    block.manager_ = manager;
    block.type_ = type;
    block.id_ = id;
    NB_RETURN_IF_ERROR(
        TRITONBACKEND_MemoryManagerAllocate(manager, &block.base_, type, id, byte_size));
    return block;
  }
  Allocation(Allocation&& other) noexcept
      : manager_(other.manager_), type_(other.type_), id_(other.id_), base_(other.base_) {
    other.base_ = nullptr;
  }
  ~Allocation() {
    if (base_ == nullptr) return;
    NB_LOG_IF_ERROR(TRITONBACKEND_MemoryManagerFree(manager_, base_, type_, id_), "free");
  }

  void* base() const { return base_; }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(base_); }

 private:
  Allocation() = default;
  TRITONBACKEND_MemoryManager* manager_ = nullptr;
  TRITONSERVER_MemoryType type_ = TRITONSERVER_MEMORY_CPU;
  int64_t id_ = 0;
  void* base_ = nullptr;
};

struct Allocations {
  Allocation in, device, device_too, out;
};

Result<Allocations> AllocateAll(TRITONBACKEND_ModelInstance* instance, int32_t gpu, size_t bytes) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_Backend* backend = nullptr;
  TRITONBACKEND_MemoryManager* manager = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceModel(instance, &model));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelBackend(model, &backend));
  NB_RETURN_IF_ERROR(TRITONBACKEND_BackendMemoryManager(backend, &manager));
  constexpr auto kPinned = TRITONSERVER_MEMORY_CPU_PINNED;
  constexpr auto kGpu = TRITONSERVER_MEMORY_GPU;
  NB_ASSIGN_OR_RETURN(Allocation in, Allocation::Allocate(manager, kPinned, 0, bytes));
  NB_ASSIGN_OR_RETURN(Allocation device, Allocation::Allocate(manager, kGpu, gpu, bytes));
  NB_ASSIGN_OR_RETURN(Allocation device_too, Allocation::Allocate(manager, kGpu, gpu, bytes));
  NB_ASSIGN_OR_RETURN(Allocation out, Allocation::Allocate(manager, kPinned, 0, bytes));
  return Allocations{std::move(in), std::move(device), std::move(device_too), std::move(out)};
}

// To the GPU, within it, and back, on a stream. What is on the host goes by pinned memory.
// REQUIRES: the context of the GPU is current.
Error CopyThrough(const Cuda& cuda, const Allocations& blocks, const std::vector<Placed>& in,
                  const Placed& out) {
  constexpr unsigned kNonBlocking = 1;
  void* stream = nullptr;
  NB_RETURN_IF_ERROR(Check(cuda.stream_create(&stream, kNonBlocking, 0), "making a stream"));
  int result = 0;
  size_t at = 0;
  for (const Placed& piece : in) {
    const uintptr_t pinned = blocks.in.address() + at;
    if (!piece.on_gpu()) std::memcpy(reinterpret_cast<void*>(pinned), piece.base, piece.byte_size);
    if (result == 0) {
      result = cuda.copy(blocks.device.address() + at, piece.on_gpu() ? piece.address() : pinned,
                         piece.byte_size, stream);
    }
    at += piece.byte_size;
  }
  if (result == 0) {
    result = cuda.copy(blocks.device_too.address(), blocks.device.address(), at, stream);
  }
  if (result == 0) {
    result = cuda.copy(out.on_gpu() ? out.address() : blocks.out.address(),
                       blocks.device_too.address(), at, stream);
  }
  // Also after an error: the blocks are freed afterwards.
  const int waited = cuda.synchronize(stream);
  cuda.stream_destroy(stream);
  return Check(result != 0 ? result : waited, "copying");
}

Error CopyOnGpu(int32_t gpu, const Allocations& blocks, const std::vector<Placed>& in,
                const Placed& out) {
  NB_ASSIGN_OR_RETURN(const Cuda cuda, FindCuda());
  int device = 0;
  void* context = nullptr;
  NB_RETURN_IF_ERROR(Check(cuda.device_get(&device, gpu), "finding the GPU"));
  NB_RETURN_IF_ERROR(Check(cuda.retain(&context, device), "making a context"));
  Error error = Check(cuda.push(context), "taking the context");
  if (error.ok()) {
    error = CopyThrough(cuda, blocks, in, out);
    cuda.pop(&context);
  }
  cuda.release(device);
  return error;
}

// The handle of a tensor's allocation, as the parameter `name` in hexadecimal digits; none if the
// server knows none.
Error TellHandle(TRITONBACKEND_Response* response, const char* name,
                 TRITONSERVER_BufferAttributes* attributes) {
  void* handle = nullptr;
  NB_RETURN_IF_ERROR(TRITONSERVER_BufferAttributesCudaIpcHandle(attributes, &handle));
  if (handle == nullptr) return Error();
  constexpr size_t kBytes = 64;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < kBytes; ++i) {
    const auto byte = static_cast<const unsigned char*>(handle)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return Error(TRITONBACKEND_ResponseSetStringParameter(response, name, text.c_str()));
}

Error TellHandles(TRITONBACKEND_Response* response, TRITONBACKEND_Input* input,
                  TRITONBACKEND_Output* output) {
  const void* base = nullptr;
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_InputBufferAttributes(input, 0, &base, &attributes));
  if (attributes != nullptr) {
    NB_RETURN_IF_ERROR(TellHandle(response, "input_ipc_handle", attributes));
  }
  NB_RETURN_IF_ERROR(TRITONBACKEND_OutputBufferAttributes(output, &attributes));
  return TellHandle(response, "output_ipc_handle", attributes);
}

Error Answer(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
             TRITONBACKEND_Response* response) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  int32_t gpu = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ModelInstanceDeviceId(instance, &gpu));
  if (kind != TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return Error::InvalidArg("testing backend: gpu_identity needs instances of KIND_GPU");
  }
  NB_ASSIGN_OR_RETURN(const InputView input, InputView::At(request, 0));
  NB_ASSIGN_OR_RETURN(const std::vector<Placed> pieces, PiecesOf(input, gpu));
  const char* name = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestOutputName(request, 0, &name));
  TRITONBACKEND_Output* output = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseOutput(response, &output, name, input.type, input.dims,
                                                  input.dim_count));
  Placed out;
  out.id = gpu;
  out.byte_size = input.byte_size;
  NB_RETURN_IF_ERROR(
      TRITONBACKEND_OutputBuffer(output, &out.base, out.byte_size, &out.type, &out.id));

  NB_ASSIGN_OR_RETURN(const Allocations blocks, AllocateAll(instance, gpu, out.byte_size));
  NB_RETURN_IF_ERROR(CopyOnGpu(gpu, blocks, pieces, out));
  if (!out.on_gpu()) std::memcpy(out.base, blocks.out.base(), out.byte_size);
  NB_RETURN_IF_ERROR(TellHandles(response, input.handle, output));
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseSetBoolParameter(response, "input_on_gpu",
                                                            !pieces.empty() && pieces[0].on_gpu()));
  NB_RETURN_IF_ERROR(
      TRITONBACKEND_ResponseSetBoolParameter(response, "output_on_gpu", out.on_gpu()));
  return Error(TRITONBACKEND_ResponseSetIntParameter(response, "gpu", gpu));
}

}  // namespace

TRITONSERVER_Error* ExecuteGpuIdentity(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                       uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = NowNs();
    TRITONBACKEND_Response* response = nullptr;
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNew(&response, requests[i]), "response");
    const Error error = Answer(instance.handle(), requests[i], response);
    SendAndRelease(instance.handle(), requests[i], response, error, start);
  }
  return nullptr;
}

}  // namespace nereid_backend
