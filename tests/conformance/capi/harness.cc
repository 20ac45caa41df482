// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capi/harness.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace nereid_test {

namespace fs = std::filesystem;

testing::AssertionResult Ok(TRITONSERVER_Error* error) {
  if (error == nullptr) return testing::AssertionSuccess();
  testing::AssertionResult failure = testing::AssertionFailure();
  failure << TRITONSERVER_ErrorCodeString(error) << ": " << TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  return failure;
}

testing::AssertionResult Fails(TRITONSERVER_Error* error, TRITONSERVER_Error_Code code,
                               std::string_view text) {
  if (error == nullptr) return testing::AssertionFailure() << "it succeeded";
  const std::string message = TRITONSERVER_ErrorMessage(error);
  const bool as_expected =
      TRITONSERVER_ErrorCode(error) == code && message.find(text) != std::string::npos;
  testing::AssertionResult result =
      as_expected ? testing::AssertionSuccess() : testing::AssertionFailure();
  result << "error is " << TRITONSERVER_ErrorCodeString(error) << ": " << message;
  TRITONSERVER_ErrorDelete(error);
  return result;
}

std::string TakeJson(TRITONSERVER_Message* message) {
  if (message == nullptr) return "";
  const char* base = nullptr;
  size_t size = 0;
  EXPECT_TRUE(Ok(TRITONSERVER_MessageSerializeToJson(message, &base, &size)));
  std::string json(base, size);
  EXPECT_TRUE(Ok(TRITONSERVER_MessageDelete(message)));
  return json;
}

std::string IdentityConfig(const std::string& more) {
  return R"(backend: "identity"
max_batch_size: 8
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
)" + more;
}

std::string SlowConfig(int milliseconds) {
  return IdentityConfig("parameters { key: \"execute_delay_ms\" value { string_value: \"" +
                        std::to_string(milliseconds) + "\" } }\n");
}

// ---- Repository

Repository::Repository() {
  std::string pattern = testing::TempDir() + "/capi_test_XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    ADD_FAILURE() << "cannot make " << pattern << ": " << strerror(errno);
  }
  path_ = pattern;
}

Repository::~Repository() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Repository::AddModel(const std::string& name, const std::string& config,
                          const std::vector<int>& versions) {
  for (const int version : versions) {
    fs::create_directories(fs::path(path_) / name / std::to_string(version));
  }
  AddFile(name + "/config.pbtxt", config);
}

void Repository::AddFile(const std::string& name, const std::string& content) {
  const fs::path file = fs::path(path_) / name;
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << content;
  EXPECT_TRUE(out.flush().good()) << file;
}

// ---- Server

Options::Options(const Repository& repository, TRITONSERVER_ModelControlMode mode) {
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsNew(&options_)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetServerId(options_, "capi_test")));
  EXPECT_TRUE(
      Ok(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options_, repository.path().c_str())));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetBackendDirectory(options_, NEREID_TEST_BACKENDS)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetModelControlMode(options_, mode)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogInfo(options_, false)));
}

Options::~Options() { EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsDelete(options_))); }

TestServer::TestServer(const Repository& repository, TRITONSERVER_ModelControlMode mode)
    : TestServer(Options(repository, mode)) {}

TestServer::TestServer(const Options& options) {
  EXPECT_TRUE(Ok(TRITONSERVER_ServerNew(&server_, options.get())));
  if (server_ == nullptr) abort();  // without a server there is nothing to test
}

TestServer::~TestServer() { Delete(); }

void TestServer::Delete() {
  EXPECT_TRUE(Ok(TRITONSERVER_ServerDelete(server_)));
  server_ = nullptr;
}

std::string TestServer::Index(uint32_t flags) const {
  TRITONSERVER_Message* message = nullptr;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelIndex(server_, flags, &message)));
  return TakeJson(message);
}

std::string TestServer::Statistics(const std::string& model) const {
  TRITONSERVER_Message* message = nullptr;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelStatistics(server_, model.c_str(), -1, &message)));
  return TakeJson(message);
}

// ---- Allocator

// Identifies a buffer: the tensor that it is for.
struct BufferMark {
  DiaryAllocator* allocator;
  std::string tensor;
};

struct DiaryCallbacks {
  static TRITONSERVER_Error* Failure(const char* what) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, what);
  }

  static TRITONSERVER_Error* Start(TRITONSERVER_ResponseAllocator*, void* userp) {
    auto* self = static_cast<DiaryAllocator*>(userp);
    self->Write("start");
    return self->fail_start ? Failure("start refused") : nullptr;
  }

  static TRITONSERVER_Error* Alloc(TRITONSERVER_ResponseAllocator* allocator, const char* tensor,
                                   size_t byte_size, TRITONSERVER_MemoryType, int64_t, void* userp,
                                   void** buffer, void** buffer_userp,
                                   TRITONSERVER_MemoryType* actual_memory_type,
                                   int64_t* actual_memory_type_id) {
    auto* self = static_cast<DiaryAllocator*>(userp);
    EXPECT_EQ(allocator, self->get());
    self->Write("alloc " + std::string(tensor) + " " + std::to_string(byte_size));
    if (self->fail_alloc) return Failure("no room here");
    *actual_memory_type = TRITONSERVER_MEMORY_CPU;
    *actual_memory_type_id = 0;
    if (byte_size == 0 || self->give_nothing) return nullptr;
    *buffer = malloc(byte_size);
    *buffer_userp = new BufferMark{self, tensor};
    return nullptr;
  }

  static TRITONSERVER_Error* Attributes(TRITONSERVER_ResponseAllocator*, const char* tensor,
                                        TRITONSERVER_BufferAttributes* attributes, void* userp,
                                        void* buffer_userp) {
    auto* self = static_cast<DiaryAllocator*>(userp);
    size_t byte_size = 0;
    EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesByteSize(attributes, &byte_size)));
    if (buffer_userp != nullptr) {
      EXPECT_EQ(static_cast<BufferMark*>(buffer_userp)->tensor, tensor);
    }
    self->Write("attributes " + std::string(tensor) + " " + std::to_string(byte_size));
    return self->fail_attributes ? Failure("cannot describe it") : nullptr;
  }

  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer,
                                     void* buffer_userp, size_t byte_size,
                                     TRITONSERVER_MemoryType memory_type, int64_t) {
    EXPECT_EQ(memory_type, TRITONSERVER_MEMORY_CPU);
    const std::unique_ptr<BufferMark> mark(static_cast<BufferMark*>(buffer_userp));
    mark->allocator->Write("release " + mark->tensor + " " + std::to_string(byte_size));
    free(buffer);
    return nullptr;
  }
};

DiaryAllocator::DiaryAllocator(Callbacks callbacks) {
  EXPECT_TRUE(Ok(
      TRITONSERVER_ResponseAllocatorNew(&allocator_, DiaryCallbacks::Alloc, DiaryCallbacks::Release,
                                        callbacks == kAll ? DiaryCallbacks::Start : nullptr)));
  if (callbacks == kAll) {
    EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
        allocator_, DiaryCallbacks::Attributes)));
  }
}

DiaryAllocator::~DiaryAllocator() {
  EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator_)));
}

std::vector<std::string> DiaryAllocator::diary() const {
  std::lock_guard<std::mutex> lock(mu_);
  return diary_;
}

void DiaryAllocator::ClearDiary() {
  std::lock_guard<std::mutex> lock(mu_);
  diary_.clear();
}

void DiaryAllocator::Write(const std::string& entry) {
  std::lock_guard<std::mutex> lock(mu_);
  diary_.push_back(entry);
}

// ---- Responses

void ResponseDeleter::operator()(TRITONSERVER_InferenceResponse* response) const {
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseDelete(response)));
}

std::vector<float> Floats(const Output& output) {
  EXPECT_EQ(output.type, TRITONSERVER_TYPE_FP32);
  std::vector<float> values(output.bytes.size() / sizeof(float));
  std::memcpy(values.data(), output.bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<Output> Outputs(const ResponsePtr& response) {
  std::vector<Output> outputs;
  EXPECT_TRUE(response != nullptr);
  if (response == nullptr) return outputs;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseError(response.get())));
  uint32_t count = 0;
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseOutputCount(response.get(), &count)));
  for (uint32_t i = 0; i < count; ++i) {
    Output output;
    const char* name = nullptr;
    const int64_t* shape = nullptr;
    uint64_t dim_count = 0;
    const void* base = nullptr;
    size_t byte_size = 0;
    int64_t memory_type_id = -1;
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceResponseOutput(
        response.get(), i, &name, &output.type, &shape, &dim_count, &base, &byte_size,
        &output.memory_type, &memory_type_id, &output.userp)));
    output.name = name;
    output.shape.assign(shape, shape + dim_count);
    if (byte_size > 0) output.bytes.assign(static_cast<const char*>(base), byte_size);
    EXPECT_EQ(memory_type_id, 0);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// ---- Call

Call::Call(const TestServer& server, const std::string& model, DiaryAllocator* allocator,
           int64_t version)
    : server_(server.get()), allocator_(allocator) {
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestNew(&request_, server_, model.c_str(), version)));
  if (request_ == nullptr) abort();  // without a request there is nothing to call
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetReleaseCallback(request_, OnRelease, this)));
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetResponseCallback(request_, allocator_->get(),
                                                                  allocator_, OnResponse, this)));
}

Call::~Call() {
  Wait();
  responses_.clear();
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestDelete(request_)));
}

void Call::AddInput(const std::string& name, TRITONSERVER_DataType type,
                    const std::vector<int64_t>& shape, const std::string& bytes) {
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestAddInput(request_, name.c_str(), type, shape.data(),
                                                       shape.size())));
  input_bytes_.push_back(bytes);
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
      request_, name.c_str(), input_bytes_.back().data(), bytes.size(), TRITONSERVER_MEMORY_CPU,
      0)));
}

void Call::AddFloats(const std::string& name, const std::vector<int64_t>& shape,
                     const std::vector<float>& values) {
  AddInput(
      name, TRITONSERVER_TYPE_FP32, shape,
      std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

void Call::SetAllocator(TRITONSERVER_ResponseAllocator* allocator, void* userp) {
  EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetResponseCallback(request_, allocator, userp,
                                                                  OnResponse, this)));
}

TRITONSERVER_Error* Call::Issue(TRITONSERVER_InferenceTrace* trace) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    in_flight_ = true;
    released_ = false;
    final_ = false;
  }
  TRITONSERVER_Error* const error = TRITONSERVER_ServerInferAsync(server_, request_, trace);
  if (error != nullptr) {
    std::lock_guard<std::mutex> lock(mu_);
    in_flight_ = false;
    EXPECT_FALSE(released_ || final_) << "a refused request came back through a callback";
  }
  return error;
}

void Call::Wait() {
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait(lock, [this] { return !in_flight_ || (released_ && final_); });
  in_flight_ = false;
}

void Call::WaitForResponses(size_t count) {
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait(lock, [&] { return responses_.size() >= count || final_; });
  EXPECT_GE(responses_.size(), count);
}

bool Call::final() const {
  std::lock_guard<std::mutex> lock(mu_);
  return final_;
}

std::vector<ResponsePtr> Call::TakeResponses() {
  std::lock_guard<std::mutex> lock(mu_);
  return std::exchange(responses_, {});
}

ResponsePtr Call::TakeResponse() {
  Wait();
  std::vector<ResponsePtr> responses = TakeResponses();
  EXPECT_EQ(responses.size(), 1u);
  return responses.empty() ? nullptr : std::move(responses[0]);
}

int Call::empty_callbacks() const {
  std::lock_guard<std::mutex> lock(mu_);
  return empty_callbacks_;
}

// Both callbacks notify while they hold the lock, because the waiting thread may destroy the call
// as soon as the lock is released.

void Call::OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp) {
  auto* self = static_cast<Call*>(userp);
  std::lock_guard<std::mutex> lock(self->mu_);
  EXPECT_EQ(request, self->request_);
  EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_REQUEST_RELEASE_ALL));
  EXPECT_FALSE(self->released_) << "released twice";
  self->released_ = true;
  self->changed_.notify_all();
}

void Call::OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
  auto* self = static_cast<Call*>(userp);
  std::lock_guard<std::mutex> lock(self->mu_);
  EXPECT_FALSE(self->final_) << "a response after the final one";
  if (response == nullptr) {
    ++self->empty_callbacks_;
  } else {
    self->responses_.emplace_back(response);
  }
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) self->final_ = true;
  self->changed_.notify_all();
}

}  // namespace nereid_test
