// SPDX-License-Identifier: Apache-2.0
// A stand-in for the server in unit tests of backend code: it defines those functions of the C API
// that the SDK calls, over plain structs that a test fills and reads. Test programs link it instead
// of libtritonserver.so. Used by one thread, except that several may create errors and report
// batches.
#ifndef NEREID_BACKENDS_SDK_TESTING_FAKE_SERVER_H_
#define NEREID_BACKENDS_SDK_TESTING_FAKE_SERVER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "triton/core/tritonbackend.h"

namespace nereid_backend::testing {

// An error as the receiver saw it.
struct SeenError {
  TRITONSERVER_Error_Code code;
  std::string message;
};

struct SeenOutput {
  std::string name;
  TRITONSERVER_DataType type;
  std::vector<int64_t> shape;
  std::string data;
  bool lent = false;  // by NEREID_OutputLend
};

struct SeenResponse {
  std::vector<SeenOutput> outputs;
  std::vector<SeenError> errors;  // at most one error
  bool final = false;
  bool together = false;  // sent within NEREID_SendTogether
};

// The stamps of a statistics report.
struct SeenTimes {
  uint64_t exec_start;
  uint64_t compute_start;
  uint64_t compute_end;
  uint64_t exec_end;
};

}  // namespace nereid_backend::testing

struct TRITONBACKEND_Input {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  std::vector<std::string> buffers;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
};

struct TRITONSERVER_InferenceTrace {
  std::string context;
};

struct TRITONBACKEND_Request {
  std::string id;
  std::deque<TRITONBACKEND_Input> inputs;
  std::vector<std::string> wanted_outputs;
  bool refuse_responses = false;  // ResponseNew fails
  bool cancelled = false;         // set before other threads read it
  uint64_t timeout_us = 0;
  uint32_t flags = 0;
  uint64_t correlation_id = 0;
  std::string correlation_name;  // of a sequence that has a name and no number
  std::vector<std::pair<std::string, int64_t>> parameters;
  TRITONSERVER_InferenceTrace* trace = nullptr;

  // What the backend did.
  std::vector<nereid_backend::testing::SeenResponse> responses;
  int responses_deleted = 0;
  int released = 0;
  std::vector<bool> statistics;                           // success flag of each report
  std::vector<nereid_backend::testing::SeenTimes> times;  // of each report
  bool reported_before_release = false;
};

struct TRITONBACKEND_Backend {
  void* state = nullptr;
  std::string folder;  // where the backend's library lies
  std::string name = "test";
  std::string config = R"({"cmdline":{}})";
  std::shared_ptr<TRITONSERVER_Message> config_message;  // the one requested last
};

// Version 1 of a model.
struct TRITONBACKEND_Model {
  TRITONBACKEND_Backend* backend = nullptr;
  std::string name;
  std::string directory;
  std::string config;  // JSON
  bool executes_briefly = false;
};

struct TRITONBACKEND_ModelInstance {
  std::vector<uint64_t> batch_sizes;  // of the batch statistics reported
  std::vector<nereid_backend::testing::SeenTimes> batch_times;
  bool on_loan = false;
  bool lendable = true;
  bool available = true;
};

namespace nereid_backend::testing {

// The number of errors that were created and not deleted yet. If it is higher after a test than
// before, there is a leak.
int64_t LiveErrors();

// Whether NEREID_OutputLend takes bytes; it does not at first. What it has taken is released by
// ReleaseLent.
void TakeLent(bool take);
void ReleaseLent();

// An input of one buffer.
TRITONBACKEND_Input MakeInput(std::string name, TRITONSERVER_DataType type,
                              std::vector<int64_t> shape, std::string data);

}  // namespace nereid_backend::testing

#endif  // NEREID_BACKENDS_SDK_TESTING_FAKE_SERVER_H_
