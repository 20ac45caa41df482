// SPDX-License-Identifier: Apache-2.0
// What the tests of the C API share: a model repository on disk, a server on it, an allocator that
// records its calls, and a request with everything that it needs. They use libtritonserver.so like
// an application: only through include/triton/core.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_HARNESS_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_HARNESS_H_

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "triton/core/tritonserver.h"

namespace nereid_test {

// Success if `error` is null; otherwise the error is deleted.
testing::AssertionResult Ok(TRITONSERVER_Error* error);
// Success if `error`, which is deleted, has that code and its message contains `text`.
testing::AssertionResult Fails(TRITONSERVER_Error* error, TRITONSERVER_Error_Code code,
                               std::string_view text);
// The JSON of `message`, which is deleted.
std::string TakeJson(TRITONSERVER_Message* message);

// Configuration of a model of the identity backend: FP32 vectors INPUT0 -> OUTPUT0, batches of up
// to 8. `more` is appended.
std::string IdentityConfig(const std::string& more = "");
// As above, sleeping for `milliseconds` in every execution.
std::string SlowConfig(int milliseconds);

// A model repository in a fresh directory, removed at the end. Thread-compatible.
class Repository {
 public:
  Repository();
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  const std::string& path() const { return path_; }
  // Writes (or replaces) <name>/config.pbtxt, and creates a directory per version.
  void AddModel(const std::string& name, const std::string& config,
                const std::vector<int>& versions = {1});
  void AddFile(const std::string& name, const std::string& content);

 private:
  std::string path_;
};

// Options for a server on `repository` with the backends of this build. INFO logging is off.
class Options {
 public:
  Options(const Repository& repository, TRITONSERVER_ModelControlMode mode);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  TRITONSERVER_ServerOptions* get() const { return options_; }

 private:
  TRITONSERVER_ServerOptions* options_ = nullptr;
};

// A running server; its start and its end are checked.
class TestServer {
 public:
  explicit TestServer(const Repository& repository,
                      TRITONSERVER_ModelControlMode mode = TRITONSERVER_MODEL_CONTROL_NONE);
  explicit TestServer(const Options& options);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  TRITONSERVER_Server* get() const { return server_; }
  // Deletes the server now.
  void Delete();
  // The repository index as JSON; empty and a test failure for an error.
  std::string Index(uint32_t flags = 0) const;
  // Statistics of a model as JSON.
  std::string Statistics(const std::string& model) const;

 private:
  TRITONSERVER_Server* server_ = nullptr;
};

// A response allocator on the heap that records its calls. Thread-safe.
class DiaryAllocator {
 public:
  // Which optional callbacks the allocator has.
  enum Callbacks { kPlain, kAll };
  explicit DiaryAllocator(Callbacks callbacks = kAll);
  ~DiaryAllocator();
  DiaryAllocator(const DiaryAllocator&) = delete;
  DiaryAllocator& operator=(const DiaryAllocator&) = delete;

  TRITONSERVER_ResponseAllocator* get() const { return allocator_; }
  // Entries so far: "start", "alloc <tensor> <bytes>", "attributes <tensor> <bytes>",
  // "release <tensor> <bytes>".
  std::vector<std::string> diary() const;
  void ClearDiary();

  // Further behaviour of the callbacks; set while no request is in flight.
  bool fail_start = false;
  bool fail_alloc = false;
  bool fail_attributes = false;
  bool give_nothing = false;  // alloc succeeds without a buffer

 private:
  friend struct DiaryCallbacks;
  void Write(const std::string& entry);

  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;
  mutable std::mutex mu_;
  std::vector<std::string> diary_;
};

// One output of a response; pointers are valid as long as the response.
struct Output {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  std::string bytes;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_GPU;
  void* userp = nullptr;
};
std::vector<float> Floats(const Output& output);

struct ResponseDeleter {
  void operator()(TRITONSERVER_InferenceResponse* response) const;
};
using ResponsePtr = std::unique_ptr<TRITONSERVER_InferenceResponse, ResponseDeleter>;
// All outputs of a response, which must not be an error.
std::vector<Output> Outputs(const ResponsePtr& response);

// A request, its callbacks and the responses to it. The test's thread builds, issues and waits.
class Call {
 public:
  // `allocator` outlives the request.
  Call(const TestServer& server, const std::string& model, DiaryAllocator* allocator,
       int64_t version = -1);
  // Waits for the request if it is in flight.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  TRITONSERVER_InferenceRequest* request() const { return request_; }
  // Adds an input with one buffer; the bytes are kept here.
  void AddInput(const std::string& name, TRITONSERVER_DataType type,
                const std::vector<int64_t>& shape, const std::string& bytes);
  void AddFloats(const std::string& name, const std::vector<int64_t>& shape,
                 const std::vector<float>& values);
  // Takes output memory from an allocator other than the constructor's.
  void SetAllocator(TRITONSERVER_ResponseAllocator* allocator, void* userp);
  // The callbacks run only after success. `trace` is taken over in any case.
  TRITONSERVER_Error* Issue(TRITONSERVER_InferenceTrace* trace = nullptr);
  // Waits until the request is released and the final response has arrived. REQUIRES: issued.
  void Wait();
  // Waits until `count` responses have arrived.
  void WaitForResponses(size_t count);
  bool final() const;
  // The responses so far; the call removes them.
  std::vector<ResponsePtr> TakeResponses();
  // Waits, and returns the only response.
  ResponsePtr TakeResponse();
  // Number of response callbacks without a response.
  int empty_callbacks() const;

 private:
  static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp);
  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp);

  TRITONSERVER_Server* const server_;
  DiaryAllocator* const allocator_;
  TRITONSERVER_InferenceRequest* request_ = nullptr;
  std::deque<std::string> input_bytes_;  // addresses stay valid

  mutable std::mutex mu_;
  std::condition_variable changed_;
  bool in_flight_ = false;
  bool released_ = false;
  bool final_ = false;
  int empty_callbacks_ = 0;
  std::vector<ResponsePtr> responses_;
};

}  // namespace nereid_test

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_HARNESS_H_
