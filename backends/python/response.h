// SPDX-License-Identifier: Apache-2.0
// Responses of Python models as values, and their conversion to the server's responses. Stateless.
#ifndef NEREID_BACKENDS_PYTHON_RESPONSE_H_
#define NEREID_BACKENDS_PYTHON_RESPONSE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/python/client_files.h"
#include "backends/python/ipc/value.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// (error, outputs, parameters)
struct PythonResponse {
  struct Failure {
    TRITONSERVER_Error_Code code = TRITONSERVER_ERROR_INTERNAL;
    std::string message;
  };
  std::optional<Failure> failure;  // if set, the rest is empty
  std::vector<nereid_python::Tensor> outputs;
  std::string parameters;  // a JSON object; empty if there are none

  // The reader fails if the bytes are not a response.
  static PythonResponse Read(nereid_python::ValueReader* reader);
};

// Where the outputs of responses are: in the memory shared with a process, of which large ones may
// be sent to clients without a copy. Owned by the thread that takes a reply.
class OutputSource {
 public:
  // `lends`: the outputs are those of a reply to a command, see Transport::HoldReply.
  OutputSource(std::shared_ptr<Transport> transport, bool lends)
      : transport_(std::move(transport)), lends_(lends) {}

  // Where the process may have written outputs of the response that is filled next. Outlive the
  // calls of Put.
  void set_places(const std::vector<OutputPlace>* places) { places_ = places; }
  // Adds an output to `response`, filled or lent.
  Error Put(const nereid_python::Tensor& tensor, TRITONBACKEND_Response* response);

 private:
  bool MayLend(const nereid_python::Tensor& tensor) const;
  // The place of an output that the process says to have written there.
  Result<std::string_view> PlacedBytes(const nereid_python::Tensor& tensor) const;

  const std::shared_ptr<Transport> transport_;
  bool lends_;
  std::shared_ptr<const void> held_;  // the reply, once something of it is lent
  const std::vector<OutputPlace>* places_ = nullptr;
};

// Copies or lends outputs, and copies parameters, into `response`.
Error Fill(const PythonResponse& from, OutputSource* source, TRITONBACKEND_Response* response);

// Converts a number from the process to an error code; INTERNAL for an unknown one.
TRITONSERVER_Error_Code ErrorCodeOf(int64_t number);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_RESPONSE_H_
