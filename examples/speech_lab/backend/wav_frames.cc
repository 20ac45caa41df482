// SPDX-License-Identifier: Apache-2.0
// libtriton_wav_frames.so: answers a WAV file with one response for each piece that the speech
// detector gets (frames.h). The pieces of a recording form a sequence. The parameters of the
// responses contain its id, begin and end, so that in an ensemble the next steps get them.
//
// Each execution runs on the thread of its instance; the only state is a counter.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "frames.h"
#include "triton/core/tritonbackend.h"
#include "wav.h"

namespace speech_lab {
namespace {

struct DeleteError {
  void operator()(TRITONSERVER_Error* error) const { TRITONSERVER_ErrorDelete(error); }
};
// Null: no error.
using ErrorPtr = std::unique_ptr<TRITONSERVER_Error, DeleteError>;

ErrorPtr MakeError(TRITONSERVER_Error_Code code, const std::string& message) {
  return ErrorPtr(TRITONSERVER_ErrorNew(code, message.c_str()));
}

ErrorPtr Own(TRITONSERVER_Error* error) { return ErrorPtr(error); }
ErrorPtr Own(ErrorPtr error) { return error; }

#define RETURN_IF_FAILED(call) \
  if (ErrorPtr failed = Own(call); failed != nullptr) return failed

// For errors that cannot be returned to anyone.
void LogIfFailed(TRITONSERVER_Error* error) {
  const ErrorPtr failed(error);
  if (failed == nullptr) return;
  const std::string text = std::string("wav_frames: ") + TRITONSERVER_ErrorMessage(error);
  ErrorPtr(TRITONSERVER_LogMessage(TRITONSERVER_LOG_ERROR, __FILE__, __LINE__, text.c_str()));
}

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// An id that no other recording has, not even in another process.
std::string NewSequenceId() {
  static const std::string process = [] {
    std::random_device random;
    return "wav_frames-" + std::to_string(random()) + std::to_string(random()) + "-";
  }();
  static std::atomic<uint64_t> count{0};
  return process + std::to_string(count.fetch_add(1, std::memory_order_relaxed));
}

// The file in a request.
struct File {
  std::span<const uint8_t> bytes;  // in the request, or in `joined`
  std::vector<uint8_t> joined;
};

ErrorPtr ReadFile(TRITONBACKEND_Request* request, File* file) {
  TRITONBACKEND_Input* input = nullptr;
  uint64_t byte_size = 0;
  uint32_t buffer_count = 0;
  RETURN_IF_FAILED(TRITONBACKEND_RequestInput(request, "wav", &input));
  RETURN_IF_FAILED(TRITONBACKEND_InputProperties(input, nullptr, nullptr, nullptr, nullptr,
                                                 &byte_size, &buffer_count));
  if (buffer_count > 1) file->joined.reserve(byte_size);
  for (uint32_t i = 0; i < buffer_count; ++i) {
    const void* buffer = nullptr;
    uint64_t size = 0;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t type_id = 0;
    RETURN_IF_FAILED(TRITONBACKEND_InputBuffer(input, i, &buffer, &size, &type, &type_id));
    if (type == TRITONSERVER_MEMORY_GPU) {
      return MakeError(TRITONSERVER_ERROR_UNSUPPORTED, "'wav' has to be in memory of the CPU");
    }
    const std::span part(static_cast<const uint8_t*>(buffer), size);
    if (buffer_count == 1) {
      file->bytes = part;
    } else {
      file->joined.insert(file->joined.end(), part.begin(), part.end());
    }
  }
  if (buffer_count != 1) file->bytes = file->joined;
  return nullptr;
}

// Which outputs the request asks for.
struct Wanted {
  bool frame = false;
  bool rate = false;
  bool time = false;
};

ErrorPtr ReadWanted(TRITONBACKEND_Request* request, Wanted* wanted) {
  uint32_t count = 0;
  RETURN_IF_FAILED(TRITONBACKEND_RequestOutputCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    RETURN_IF_FAILED(TRITONBACKEND_RequestOutputName(request, i, &name));
    if (std::strcmp(name, "frame") == 0) wanted->frame = true;
    if (std::strcmp(name, "rate") == 0) wanted->rate = true;
    if (std::strcmp(name, "time") == 0) wanted->time = true;
  }
  return nullptr;
}

ErrorPtr AddOutput(TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType type,
                   std::span<const int64_t> shape, const void* data, size_t byte_size) {
  TRITONBACKEND_Output* output = nullptr;
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t memory_id = 0;
  RETURN_IF_FAILED(TRITONBACKEND_ResponseOutput(response, &output, name, type, shape.data(),
                                                static_cast<uint32_t>(shape.size())));
  RETURN_IF_FAILED(TRITONBACKEND_OutputBuffer(output, &buffer, byte_size, &memory, &memory_id));
  if (memory == TRITONSERVER_MEMORY_GPU) {
    return MakeError(TRITONSERVER_ERROR_UNSUPPORTED, "outputs have to be in memory of the CPU");
  }
  std::memcpy(buffer, data, byte_size);
  return nullptr;
}

// Answers one request. Exists during its execution, on the thread of the instance.
class Answer {
 public:
  explicit Answer(TRITONBACKEND_Request* request) : request_(request) {}

  // Sends all responses, or an error. Returns false after an error.
  bool Send() {
    ErrorPtr error = Guarded();
    if (error == nullptr) return true;
    if (!ended_) SendError(error.get());
    return false;
  }

 private:
  // Turns exceptions into errors, because none may leave the library.
  ErrorPtr Guarded() {
    try {
      return SendFrames();
    } catch (const std::exception& thrown) {
      return MakeError(TRITONSERVER_ERROR_INTERNAL, thrown.what());
    }
  }

  ErrorPtr SendFrames() {
    File file;
    Recording recording;
    RETURN_IF_FAILED(ReadFile(request_, &file));
    RETURN_IF_FAILED(ReadWanted(request_, &wanted_));
    if (const auto wrong = ReadWav(file.bytes, &recording)) {
      return MakeError(TRITONSERVER_ERROR_INVALID_ARG, *wrong);
    }
    sequence_id_ = NewSequenceId();
    Frames frames(recording);
    count_ = frames.count();
    for (size_t i = 0; i < count_; ++i) {
      bool cancelled = false;
      RETURN_IF_FAILED(TRITONBACKEND_RequestIsCancelled(request_, &cancelled));
      if (cancelled) return MakeError(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled");
      RETURN_IF_FAILED(SendFrame(i, frames.Next()));
    }
    return nullptr;
  }

  ErrorPtr SendFrame(size_t index, const Frame& frame) {
    TRITONBACKEND_Response* response = nullptr;
    RETURN_IF_FAILED(TRITONBACKEND_ResponseNew(&response, request_));
    if (ErrorPtr failed = Fill(index, frame, response); failed != nullptr) {
      LogIfFailed(TRITONBACKEND_ResponseDelete(response));
      return failed;
    }
    ended_ = index + 1 == count_;
    const uint32_t flags = ended_ ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0;
    return ErrorPtr(TRITONBACKEND_ResponseSend(response, flags, nullptr));
  }

  ErrorPtr Fill(size_t index, const Frame& frame, TRITONBACKEND_Response* response) const {
    const bool first = index == 0;
    const bool last = index + 1 == count_;
    RETURN_IF_FAILED(
        TRITONBACKEND_ResponseSetStringParameter(response, "sequence_id", sequence_id_.c_str()));
    RETURN_IF_FAILED(TRITONBACKEND_ResponseSetBoolParameter(response, "sequence_start", first));
    RETURN_IF_FAILED(TRITONBACKEND_ResponseSetBoolParameter(response, "sequence_end", last));
    constexpr int64_t kFrameShape[] = {1, std::tuple_size_v<Frame>};
    constexpr int64_t kOne[] = {1};
    if (wanted_.frame) {
      RETURN_IF_FAILED(AddOutput(response, "frame", TRITONSERVER_TYPE_FP32, kFrameShape,
                                 frame.data(), sizeof(frame)));
    }
    if (wanted_.rate) {
      const int64_t rate = kFrameRate;
      RETURN_IF_FAILED(
          AddOutput(response, "rate", TRITONSERVER_TYPE_INT64, kOne, &rate, sizeof(rate)));
    }
    if (!wanted_.time) return nullptr;
    const float time = Frames::BeginSeconds(index);
    return AddOutput(response, "time", TRITONSERVER_TYPE_FP32, kOne, &time, sizeof(time));
  }

  void SendError(TRITONSERVER_Error* error) {
    TRITONBACKEND_Response* response = nullptr;
    LogIfFailed(TRITONBACKEND_ResponseNew(&response, request_));
    if (response == nullptr) return;
    LogIfFailed(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  }

  TRITONBACKEND_Request* const request_;
  Wanted wanted_;
  std::string sequence_id_;
  size_t count_ = 0;
  bool ended_ = false;  // the final flag was sent
};

}  // namespace
}  // namespace speech_lab

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  uint32_t major = 0;
  uint32_t minor = 0;
  if (TRITONSERVER_Error* error = TRITONBACKEND_ApiVersion(&major, &minor)) return error;
  if (major == TRITONBACKEND_API_VERSION_MAJOR && minor >= TRITONBACKEND_API_VERSION_MINOR) {
    return nullptr;
  }
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNSUPPORTED,
                               "the backend wav_frames was built for a newer server");
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  using speech_lab::LogIfFailed;
  for (uint32_t i = 0; i < request_count; ++i) {
    const uint64_t begin = speech_lab::NowNs();
    const bool success = speech_lab::Answer(requests[i]).Send();
    const uint64_t end = speech_lab::NowNs();
    LogIfFailed(TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], success, begin,
                                                            begin, end, end));
    LogIfFailed(
        TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, 1, begin, begin, end, end));
    LogIfFailed(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
  }
  return nullptr;
}

// Says that this backend has no code for GPUs: its instances stay on the CPU where there are some.
TRITONBACKEND_ISPEC void NEREID_BackendComputesOnCpus(void) {}

}  // extern "C"
