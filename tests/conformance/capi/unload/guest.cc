// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capi/unload/guest.h"

#include <cstdlib>
#include <future>
#include <stdexcept>
#include <string>

#include "triton/core/tritonserver.h"

namespace {

void Check(TRITONSERVER_Error* error) {
  if (error == nullptr) return;
  const std::string text = TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  throw std::runtime_error(text);
}

TRITONSERVER_Error* Alloc(TRITONSERVER_ResponseAllocator*, const char*, size_t byte_size,
                          TRITONSERVER_MemoryType, int64_t, void*, void** buffer, void**,
                          TRITONSERVER_MemoryType* type, int64_t* type_id) {
  *type = TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  *buffer = byte_size == 0 ? nullptr : malloc(byte_size);
  return nullptr;
}

TRITONSERVER_Error* Free(TRITONSERVER_ResponseAllocator*, void* buffer, void*, size_t,
                         TRITONSERVER_MemoryType, int64_t) {
  free(buffer);
  return nullptr;
}

struct Flight {
  std::promise<void> released;
  std::promise<std::string> answered;  // an error text, or empty
};

void OnRelease(TRITONSERVER_InferenceRequest*, uint32_t, void* userp) {
  static_cast<Flight*>(userp)->released.set_value();
}

void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t, void* userp) {
  std::string problem;
  try {
    Check(TRITONSERVER_InferenceResponseError(response));
    Check(TRITONSERVER_InferenceResponseDelete(response));
  } catch (const std::exception& e) {
    problem = e.what();
  }
  static_cast<Flight*>(userp)->answered.set_value(problem);
}

void Infer(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
           const char* model) {
  const float data[] = {1, 2, 3, 4};
  const int64_t shape[] = {1, 4};
  Flight flight;
  TRITONSERVER_InferenceRequest* request = nullptr;
  Check(TRITONSERVER_InferenceRequestNew(&request, server, model, -1));
  Check(TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 2));
  Check(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", data, sizeof(data),
                                                     TRITONSERVER_MEMORY_CPU, 0));
  Check(TRITONSERVER_InferenceRequestSetReleaseCallback(request, &OnRelease, &flight));
  Check(TRITONSERVER_InferenceRequestSetResponseCallback(request, allocator, nullptr, &OnResponse,
                                                         &flight));
  Check(TRITONSERVER_ServerInferAsync(server, request, nullptr));
  flight.released.get_future().wait();
  const std::string problem = flight.answered.get_future().get();
  Check(TRITONSERVER_InferenceRequestDelete(request));
  if (!problem.empty()) throw std::runtime_error(problem);
}

TRITONSERVER_Server* Start(const char* repository, const char* backends) {
  TRITONSERVER_ServerOptions* options = nullptr;
  TRITONSERVER_Server* server = nullptr;
  Check(TRITONSERVER_ServerOptionsNew(&options));
  Check(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository));
  Check(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backends));
  Check(
      TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_EXPLICIT));
  Check(TRITONSERVER_ServerOptionsSetStartupModel(options, "*"));
  Check(TRITONSERVER_ServerOptionsSetLogInfo(options, false));
  Check(TRITONSERVER_ServerNew(&server, options));
  Check(TRITONSERVER_ServerOptionsDelete(options));
  return server;
}

void Serve(const char* repository, const char* backends, const char* const* models) {
  TRITONSERVER_Server* const server = Start(repository, backends);
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  Check(TRITONSERVER_ResponseAllocatorNew(&allocator, &Alloc, &Free, nullptr));
  for (const char* const* model = models; *model != nullptr; ++model) {
    Infer(server, allocator, *model);
  }
  Check(TRITONSERVER_ServerUnloadModel(server, models[0]));
  Check(TRITONSERVER_ServerLoadModel(server, models[0]));
  bool ready = false;
  Check(TRITONSERVER_ServerIsReady(server, &ready));
  // When this returns, the models are destroyed, except for the last steps of their threads.
  Check(TRITONSERVER_ServerDelete(server));
  Check(TRITONSERVER_ResponseAllocatorDelete(allocator));
}

}  // namespace

extern "C" const char* GuestServe(const char* repository, const char* backends,
                                  const char* const* models) {
  static std::string problem;
  try {
    Serve(repository, backends, models);
    return nullptr;
  } catch (const std::exception& e) {
    problem = e.what();
    return problem.c_str();
  }
}
