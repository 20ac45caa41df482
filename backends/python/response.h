// Responses of Python models as values, and what the server makes of them. Stateless.
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
  std::optional<Failure> failure;  // then there is nothing else
  std::vector<nereid_python::Tensor> outputs;
  std::string parameters;  // a JSON object; empty without any

  // The reader fails when that is no response.
  static PythonResponse Read(nereid_python::ValueReader* reader);
};

// Copies outputs and parameters into `response`.
Error Fill(const PythonResponse& from, const Transport& transport,
           TRITONBACKEND_Response* response);

// A number of the process as an error code; INTERNAL for one that there is not.
TRITONSERVER_Error_Code ErrorCodeOf(int64_t number);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_RESPONSE_H_
