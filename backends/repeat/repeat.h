// The repeat backend: a decoupled model that sends one response per element of its input. See
// README.md for its tensors.
#ifndef NEREID_BACKENDS_REPEAT_REPEAT_H_
#define NEREID_BACKENDS_REPEAT_REPEAT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/repeat/response_threads.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

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

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_REPEAT_REPEAT_H_
