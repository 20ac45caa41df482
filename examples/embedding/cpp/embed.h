// SPDX-License-Identifier: Apache-2.0
// A thin cover of the C API for the programs in this folder: objects with one owner, errors as
// exceptions, and answers that one waits for.
#ifndef EMBED_H_
#define EMBED_H_

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nereid/server.h"  // for SendInline() alone
#include "triton/core/tritonserver.h"

namespace embed {

inline void Check(TRITONSERVER_Error* error) {
  if (error == nullptr) return;
  const std::string text = TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  throw std::runtime_error(text);
}

// An object of the C API, deleted by `Delete`.
template <typename T, TRITONSERVER_Error* (*Delete)(T*)>
struct Deleter {
  void operator()(T* object) const {
    if (TRITONSERVER_Error* error = Delete(object)) TRITONSERVER_ErrorDelete(error);
  }
};
template <typename T, TRITONSERVER_Error* (*Delete)(T*)>
using Owned = std::unique_ptr<T, Deleter<T, Delete>>;

using Response = Owned<TRITONSERVER_InferenceResponse, &TRITONSERVER_InferenceResponseDelete>;

// An allocator of outputs that takes memory from malloc(). It outlives the responses.
class Allocator {
 public:
  Allocator() {
    TRITONSERVER_ResponseAllocator* made = nullptr;
    Check(TRITONSERVER_ResponseAllocatorNew(&made, &Allocate, &Release, nullptr));
    allocator_.reset(made);
  }
  TRITONSERVER_ResponseAllocator* get() const { return allocator_.get(); }

 private:
  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*,
                                      size_t byte_size, TRITONSERVER_MemoryType, int64_t, void*,
                                      void** buffer, void** buffer_userp,
                                      TRITONSERVER_MemoryType* type, int64_t* type_id) {
    *type = TRITONSERVER_MEMORY_CPU;  // whatever the server prefers
    *type_id = 0;
    *buffer_userp = nullptr;
    *buffer = byte_size == 0 ? nullptr : std::malloc(byte_size);
    if (byte_size == 0 || *buffer != nullptr) return nullptr;
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "out of memory");
  }
  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer, void*, size_t,
                                     TRITONSERVER_MemoryType, int64_t) {
    std::free(buffer);
    return nullptr;
  }

  Owned<TRITONSERVER_ResponseAllocator, &TRITONSERVER_ResponseAllocatorDelete> allocator_;
};

// The output `name` as elements of T. Valid as long as the response.
template <typename T>
std::span<const T> Output(TRITONSERVER_InferenceResponse* response, const std::string& name) {
  uint32_t count = 0;
  Check(TRITONSERVER_InferenceResponseOutputCount(response, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* output = nullptr;
    TRITONSERVER_DataType data_type{};
    const int64_t* shape = nullptr;
    uint64_t dims = 0;
    const void* base = nullptr;
    size_t byte_size = 0;
    TRITONSERVER_MemoryType memory_type{};
    int64_t memory_type_id = 0;
    void* userp = nullptr;
    Check(TRITONSERVER_InferenceResponseOutput(response, i, &output, &data_type, &shape, &dims,
                                               &base, &byte_size, &memory_type, &memory_type_id,
                                               &userp));
    if (name != output) continue;
    if (TRITONSERVER_DataTypeByteSize(data_type) != sizeof(T)) {
      throw std::runtime_error("the output '" + name + "' has another type");
    }
    return {static_cast<const T*>(base), byte_size / sizeof(T)};
  }
  throw std::runtime_error("the answer has no output '" + name + "'");
}

// One request in flight and its responses. Its destructor cancels it if it has not ended, and waits
// until the server has done with it.
//
// The request has ended when two things have happened, in either order: the server has released it,
// and its last response has come. A model may release it long before its last response. It is kept
// until both, so that it can be cancelled.
class Call {
 public:
  Call(TRITONSERVER_Server* server, const std::string& model) : server_(server) {
    TRITONSERVER_InferenceRequest* made = nullptr;
    Check(TRITONSERVER_InferenceRequestNew(&made, server, model.c_str(), /*newest version*/ -1));
    request_.reset(made);
  }
  ~Call() {
    Cancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ && released_; });
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Copies the data, which has to outlive the request.
  template <typename T>
  void AddInput(const std::string& name, TRITONSERVER_DataType type,
                const std::vector<int64_t>& shape, std::span<const T> data) {
    const auto* bytes = reinterpret_cast<const char*>(data.data());
    std::vector<char>& kept = data_.emplace_back(bytes, bytes + data.size_bytes());
    Check(TRITONSERVER_InferenceRequestAddInput(request_.get(), name.c_str(), type, shape.data(),
                                                shape.size()));
    Check(TRITONSERVER_InferenceRequestAppendInputData(request_.get(), name.c_str(), kept.data(),
                                                       kept.size(), TRITONSERVER_MEMORY_CPU, 0));
  }

  TRITONSERVER_InferenceRequest* request() const { return request_.get(); }

  // Sends the request and returns at once.
  void Send(const Allocator& allocator) { SendBy(TRITONSERVER_ServerInferAsync, allocator); }
  // As Send, for a caller that waits anyway: lends its thread to the server, which executes a short
  // model there if it can. The answer has come then when the function returns.
  void SendInline(const Allocator& allocator) { SendBy(NEREID_ServerInferInline, allocator); }
  // Asks the server to give the request up, from any thread. What follows is the answer to that:
  // often an error. Does nothing for a request that has ended.
  void Cancel() {
    {
      const std::lock_guard lock(mutex_);
      if (ended_ && released_) return;
    }
    // Without the lock, because the callbacks may run within this call.
    TRITONSERVER_Error* error = TRITONSERVER_InferenceRequestCancel(request_.get());
    if (error != nullptr) TRITONSERVER_ErrorDelete(error);
  }
  // Waits for the next response; null after the last one. Throws if it is an error.
  Response Next() {
    Response response;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !responses_.empty(); });
      if (responses_.empty()) return nullptr;
      response = std::move(responses_.front());
      responses_.pop_front();
    }
    // The error belongs to the response.
    TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(response.get());
    if (error != nullptr) throw std::runtime_error(TRITONSERVER_ErrorMessage(error));
    return response;
  }

 private:
  void SendBy(decltype(&TRITONSERVER_ServerInferAsync) infer, const Allocator& allocator) {
    Check(TRITONSERVER_InferenceRequestSetReleaseCallback(request_.get(), &OnRelease, this));
    Check(TRITONSERVER_InferenceRequestSetResponseCallback(request_.get(), allocator.get(), nullptr,
                                                           &OnResponse, this));
    ended_ = released_ = false;
    TRITONSERVER_Error* error = infer(server_, request_.get(), nullptr);
    if (error != nullptr) ended_ = released_ = true;  // no callback runs
    Check(error);
  }

  // The callbacks run on threads of the server and must not block.
  static void OnResponse(TRITONSERVER_InferenceResponse* response, const uint32_t flags,
                         void* userp) {
    Call& call = *static_cast<Call*>(userp);
    const std::lock_guard lock(call.mutex_);
    if (response != nullptr) call.responses_.emplace_back(response);
    if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) call.ended_ = true;
    call.changed_.notify_all();
  }
  static void OnRelease(TRITONSERVER_InferenceRequest*, const uint32_t flags, void* userp) {
    Call& call = *static_cast<Call*>(userp);
    if ((flags & TRITONSERVER_REQUEST_RELEASE_ALL) == 0) return;
    const std::lock_guard lock(call.mutex_);
    call.released_ = true;
    call.changed_.notify_all();
  }

  TRITONSERVER_Server* const server_;
  std::deque<std::vector<char>> data_;  // of the inputs
  Owned<TRITONSERVER_InferenceRequest, &TRITONSERVER_InferenceRequestDelete> request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Response> responses_;
  bool ended_ = true;     // the last response has come
  bool released_ = true;  // the server does not use the inputs any more
};

// A server on a repository, without a network. Its destructor waits for requests in flight and
// unloads the models.
class Server {
 public:
  // `backends`: the folder of the backends; empty: that of the installation.
  Server(const std::string& repository, const std::string& backends) {
    TRITONSERVER_ServerOptions* made = nullptr;
    Check(TRITONSERVER_ServerOptionsNew(&made));
    const Owned<TRITONSERVER_ServerOptions, &TRITONSERVER_ServerOptionsDelete> options(made);
    Check(TRITONSERVER_ServerOptionsSetModelRepositoryPath(made, repository.c_str()));
    // Models are loaded and unloaded by calls, and never by themselves.
    Check(TRITONSERVER_ServerOptionsSetModelControlMode(made, TRITONSERVER_MODEL_CONTROL_EXPLICIT));
    // Backends complete the configuration from the model's file.
    Check(TRITONSERVER_ServerOptionsSetStrictModelConfig(made, false));
    Check(TRITONSERVER_ServerOptionsSetLogInfo(made, false));
    if (!backends.empty()) {
      Check(TRITONSERVER_ServerOptionsSetBackendDirectory(made, backends.c_str()));
    }
    TRITONSERVER_Server* server = nullptr;
    Check(TRITONSERVER_ServerNew(&server, made));
    server_.reset(server);
  }

  TRITONSERVER_Server* get() const { return server_.get(); }
  void Load(const std::string& model) { Check(TRITONSERVER_ServerLoadModel(get(), model.c_str())); }

 private:
  Owned<TRITONSERVER_Server, &TRITONSERVER_ServerDelete> server_;
};

}  // namespace embed

#endif  // EMBED_H_
