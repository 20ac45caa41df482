// Responses of Python models as values, and their conversion to the server's responses. Stateless.
#ifndef NEREID_BACKENDS_PYTHON_RESPONSE_H_
#define NEREID_BACKENDS_PYTHON_RESPONSE_H_

#include <optional>
#include <string>
#include <vector>

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

// Copies outputs and parameters into `response`.
Error Fill(const PythonResponse& from, const Transport& transport,
           TRITONBACKEND_Response* response);

// Converts a number from the process to an error code; INTERNAL for an unknown one.
TRITONSERVER_Error_Code ErrorCodeOf(int64_t number);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_RESPONSE_H_
