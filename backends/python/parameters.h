// Owns a parameter of the server's C API.
#ifndef NEREID_BACKENDS_PYTHON_PARAMETERS_H_
#define NEREID_BACKENDS_PYTHON_PARAMETERS_H_

#include <memory>

#include "triton/core/tritonserver.h"

namespace nereid_backend {

struct ParameterDeleter {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};
using OwnedParameter = std::unique_ptr<TRITONSERVER_Parameter, ParameterDeleter>;

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_PARAMETERS_H_
