// SPDX-License-Identifier: Apache-2.0
// The repeat backend: a decoupled model that sends one response per element of its input. See
// README.md for its tensors.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "backends/repeat/options.h"
#include "backends/sdk/batch.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/error.h"
#include "backends/sdk/log.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"
#include "backends/sdk/response_factory.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

// The content of one request. A value.
struct RepeatRequest {
  std::vector<int32_t> values;
  std::vector<uint32_t> delays_ms;  // one per response
  std::chrono::milliseconds wait{0};
  bool wants_value = true;  // output OUT
  bool wants_index = true;  // output IDX

  // INVALID_ARG when the inputs do not fit together.
  static Result<RepeatRequest> Read(TRITONBACKEND_Request* request);
};

constexpr std::chrono::milliseconds kCancelPoll(5);

// Elements of input `name`; `shape` (may be null) receives its text.
template <typename T>
Result<std::vector<T>> ReadVector(TRITONBACKEND_Request* request, const char* name,
                                  std::string* shape) {
  NB_ASSIGN_OR_RETURN(const InputView input, InputView::Find(request, name));
  std::vector<Piece> pieces;
  NB_RETURN_IF_ERROR(AppendPieces(input, &pieces));
  std::vector<T> values(TotalSize(pieces) / sizeof(T));
  if (!values.empty()) CopyPieces(pieces, reinterpret_cast<char*>(values.data()));
  if (shape != nullptr) *shape = ShapeToString(input.dims, input.dim_count);
  return values;
}

Error CheckTensor(const ModelConfig& config, const TensorConfig* tensor, const char* name,
                  TRITONSERVER_DataType type) {
  if (tensor != nullptr && tensor->type == type && tensor->dims.size() == 1) return Error();
  return Error::InvalidArg(StrCat("model '", config.name, "' has to have a tensor '", name,
                                  "' of type ", ConfigTypeName(type), " and one dimension"));
}

template <typename T>
Error AddOutput(TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType type,
                T value) {
  constexpr int64_t kShape[] = {1};
  NB_ASSIGN_OR_RETURN(char* const buffer,
                      AllocateOutput(response, name, type, kShape, 1, sizeof(value)));
  std::copy_n(reinterpret_cast<const char*>(&value), sizeof(value), buffer);
  return Error();
}

// Sends the responses of one request. Lives on the thread that sends them.
class Repeater {
 public:
  // Takes over `factory`.
  Repeater(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_ResponseFactory* factory,
           RepeatRequest request)
      : instance_(instance), factory_(factory), request_(std::move(request)) {}

  // `own_thread`: the calling thread answers only this request, and may wait for its client.
  void Run(bool own_thread) {
    own_thread_ = own_thread;
    // This may be a separate thread, out of which no exception may come.
    const Error ignored = Guarded("sending of responses", [&]() -> Error {
      const Error error = Guarded("sending of responses", [&] { return SendAll(); });
      if (!error.ok()) SendError(error);
      return Error();
    });
    OwnedFactory(factory_).reset();
  }

  // Answers with `error` instead of the responses.
  void SendError(const Error& error) {
    TRITONBACKEND_Response* response = nullptr;
    const uint64_t start = NowNs();
    NB_LOG_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory_), "no response");
    if (response == nullptr) return;
    NB_LOG_IF_ERROR(
        TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error.get()),
        "failed to send an error");
    ReportResponse(instance_, factory_, start, NowNs(), error.get());
  }

 private:
  Error SendAll() {
    for (size_t i = 0; i < request_.values.size(); ++i) {
      if (own_thread_) AwaitCredit(factory_);
      const uint64_t start = NowNs();
      NB_RETURN_IF_ERROR(Wait(std::chrono::milliseconds(request_.delays_ms[i])));
      NB_RETURN_IF_ERROR(SendOne(i, start));
    }
    return Error(
        TRITONBACKEND_ResponseFactorySendFlags(factory_, TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  }

  // CANCELLED as soon as the client gives up.
  Error Wait(std::chrono::milliseconds delay) {
    const auto end = std::chrono::steady_clock::now() + delay;
    while (true) {
      bool cancelled = false;
      NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseFactoryIsCancelled(factory_, &cancelled));
      if (cancelled) {
        NB_LOG_INFO("repeat backend: a request was cancelled");
        return Error(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled");
      }
      if (delay.count() == 0) return Error();
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return Error();
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kCancelPoll));
    }
  }

  Error SendOne(size_t i, uint64_t start) {
    TRITONBACKEND_Response* response = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseNewFromFactory(&response, factory_));
    const uint64_t output_start = NowNs();
    if (Error filled = Fill(i, response); !filled.ok()) {
      NB_LOG_IF_ERROR(TRITONBACKEND_ResponseDelete(response), "failed to delete a response");
      return filled;
    }
    NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseSend(response, 0, nullptr));
    ReportResponse(instance_, factory_, start, output_start, nullptr);
    return Error();
  }

  Error Fill(size_t i, TRITONBACKEND_Response* response) {
    if (request_.wants_value) {
      NB_RETURN_IF_ERROR(AddOutput(response, "OUT", TRITONSERVER_TYPE_INT32, request_.values[i]));
    }
    if (!request_.wants_index) return Error();
    return AddOutput(response, "IDX", TRITONSERVER_TYPE_UINT32, static_cast<uint32_t>(i));
  }

  TRITONBACKEND_ModelInstance* const instance_;
  TRITONBACKEND_ResponseFactory* const factory_;
  const RepeatRequest request_;
  bool own_thread_ = false;
};

// ResponseThreads: threads that each send the responses of one request at a time. A thread is added
// only if none is idle, so there are as many as the most requests in progress at a time. All
// threads end before the instance is destroyed, because their code must not be unloaded while they
// run. Thread-safe.
class ResponseThreads {
 public:
  ResponseThreads() = default;
  // Waits until all started bodies have returned.
  ~ResponseThreads();
  ResponseThreads(const ResponseThreads&) = delete;
  ResponseThreads& operator=(const ResponseThreads&) = delete;

  // Runs `body`, which must not throw, at once on a separate thread. Throws std::system_error, and
  // does not run it, if no further thread can be created.
  void Start(std::function<void()> body);

 private:
  void Loop();

  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mu_; each has an idle thread
  size_t idle_ = 0;                            // guarded by mu_
  bool stopping_ = false;                      // guarded by mu_
  std::vector<std::thread> threads_;           // guarded by mu_ until stopping_
};

ResponseThreads::~ResponseThreads() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ResponseThreads::Start(std::function<void()> body) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    // A new thread counts as idle until it takes its work.
    if (waiting_.size() == idle_) {
      threads_.emplace_back([this] { Loop(); });
      ++idle_;
    }
    waiting_.push_back(std::move(body));
  }
  changed_.notify_one();
}

void ResponseThreads::Loop() {
  std::unique_lock<std::mutex> lock(mu_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> body = std::move(waiting_.front());
    waiting_.pop_front();
    --idle_;
    lock.unlock();
    body();
    lock.lock();
    ++idle_;
  }
}

// Immutable.
class RepeatModel {
 public:
  // INVALID_ARG, UNSUPPORTED when the configuration does not have the tensors of this backend.
  static Result<std::unique_ptr<RepeatModel>> Create(TRITONBACKEND_Model* model);
};

// Owned by the instance's thread.
class RepeatInstance {
 public:
  static Result<std::unique_ptr<RepeatInstance>> Create(TRITONBACKEND_ModelInstance* handle,
                                                        const RepeatModel& model);

  // Starts the responses of all requests, waits as the requests ask, and releases them.
  void Execute(TRITONBACKEND_Request** requests, uint32_t count);

 private:
  explicit RepeatInstance(TRITONBACKEND_ModelInstance* handle) : handle_(handle) {}

  // Returns how long the request asks to be held. An error has already been sent to the client.
  Result<std::chrono::milliseconds> Begin(TRITONBACKEND_Request* request);

  TRITONBACKEND_ModelInstance* const handle_;
  ResponseThreads threads_;
};

Result<RepeatRequest> RepeatRequest::Read(TRITONBACKEND_Request* request) {
  RepeatRequest read;
  std::string in_shape, delay_shape;
  NB_ASSIGN_OR_RETURN(read.values, ReadVector<int32_t>(request, "IN", &in_shape));
  NB_ASSIGN_OR_RETURN(read.delays_ms, ReadVector<uint32_t>(request, "DELAY", &delay_shape));
  if (in_shape != delay_shape) {
    return Error::InvalidArg(
        StrCat("expected IN and DELAY shape to match, got ", in_shape, " and ", delay_shape));
  }
  NB_ASSIGN_OR_RETURN(const std::vector<uint32_t> wait,
                      ReadVector<uint32_t>(request, "WAIT", nullptr));
  if (!wait.empty()) read.wait = std::chrono::milliseconds(wait[0]);
  read.wants_value = WantsOutput(request, "OUT");
  read.wants_index = WantsOutput(request, "IDX");
  return read;
}

Result<std::unique_ptr<RepeatModel>> RepeatModel::Create(TRITONBACKEND_Model* model) {
  NB_ASSIGN_OR_RETURN(const ModelConfig config, ReadModelConfig(model));
  NB_RETURN_IF_ERROR(ReadParameters(kRepeatOptions, config).TakeError());
  if (config.batching()) {
    return Error::Unsupported(StrCat("model '", config.name, "': repeat backend does not batch"));
  }
  const auto input = [&](const char* name, TRITONSERVER_DataType type) {
    return CheckTensor(config, config.FindInput(name), name, type);
  };
  const auto output = [&](const char* name, TRITONSERVER_DataType type) {
    return CheckTensor(config, config.FindOutput(name), name, type);
  };
  NB_RETURN_IF_ERROR(input("IN", TRITONSERVER_TYPE_INT32));
  NB_RETURN_IF_ERROR(input("DELAY", TRITONSERVER_TYPE_UINT32));
  NB_RETURN_IF_ERROR(input("WAIT", TRITONSERVER_TYPE_UINT32));
  NB_RETURN_IF_ERROR(output("OUT", TRITONSERVER_TYPE_INT32));
  NB_RETURN_IF_ERROR(output("IDX", TRITONSERVER_TYPE_UINT32));
  return std::make_unique<RepeatModel>();
}

Result<std::unique_ptr<RepeatInstance>> RepeatInstance::Create(TRITONBACKEND_ModelInstance* handle,
                                                               const RepeatModel&) {
  return std::unique_ptr<RepeatInstance>(new RepeatInstance(handle));
}

Result<std::chrono::milliseconds> RepeatInstance::Begin(TRITONBACKEND_Request* request) {
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseFactoryNew(&factory, request));
  OwnedFactory owned(factory);
  Result<RepeatRequest> read = RepeatRequest::Read(request);
  if (!read.ok()) {
    Repeater(handle_, factory, RepeatRequest()).SendError(read.error());
    return read.TakeError();
  }
  const std::chrono::milliseconds wait = read->wait;
  const auto repeater = std::make_shared<Repeater>(handle_, factory, *std::move(read));
  owned.release();  // Repeater::Run deletes the factory at its end
  const Error started = Guarded("ModelInstanceExecute", [&]() -> Error {
    threads_.Start([repeater] { repeater->Run(/*own_thread=*/true); });
    return Error();
  });
  // If no thread can be created, this thread sends the responses.
  if (!started.ok()) repeater->Run(/*own_thread=*/false);
  return wait;
}

void RepeatInstance::Execute(TRITONBACKEND_Request** requests, uint32_t count) {
  const uint64_t start = NowNs();
  std::chrono::milliseconds longest_wait(0);
  std::vector<bool> good(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Result<std::chrono::milliseconds> wait = Begin(requests[i]);
    good[i] = wait.ok();
    if (wait.ok()) longest_wait = std::max(longest_wait, *wait);
  }
  std::this_thread::sleep_for(longest_wait);
  const uint64_t end = NowNs();
  for (uint32_t i = 0; i < count; ++i) {
    NB_LOG_IF_ERROR(TRITONBACKEND_ModelInstanceReportStatistics(handle_, requests[i], good[i],
                                                                start, start, end, end),
                    "request statistics");
  }
  NB_LOG_IF_ERROR(
      TRITONBACKEND_ModelInstanceReportBatchStatistics(handle_, count, start, start, end, end),
      "batch statistics");
  for (uint32_t i = 0; i < count; ++i) {
    NB_LOG_IF_ERROR(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL),
                    "release");
  }
}

// Nothing can be set, so that there is nothing to keep.
struct RepeatBackend {
  static Result<std::unique_ptr<RepeatBackend>> Create(TRITONBACKEND_Backend* backend) {
    NB_RETURN_IF_ERROR(RequireApi(19));
    NB_ASSIGN_OR_RETURN(const Json cmdline, ReadBackendSettings(backend));
    NB_ASSIGN_OR_RETURN(const OptionValues settings, ReadSettings(kRepeatOptions, cmdline));
    return std::make_unique<RepeatBackend>();
  }
};

}  // namespace
}  // namespace nereid_backend

NB_BACKEND_FUNCTIONS(nereid_backend::RepeatBackend, nereid_backend::RepeatModel,
                     nereid_backend::RepeatInstance)

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::Guard("ModelInstanceExecute", [&]() -> nereid_backend::Error {
    nereid_backend::InstanceStateOf<nereid_backend::RepeatInstance>(instance)->Execute(
        requests, request_count);
    return {};
  });
}

void NEREID_BackendComputesOnCpus(void) {}
