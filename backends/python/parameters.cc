// SPDX-License-Identifier: Apache-2.0
#include "backends/python/parameters.h"

namespace nereid_backend {

Error AddParameter(const char* name, TRITONSERVER_ParameterType type, const void* value,
                   Json* parameters) {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      parameters->Set(name, static_cast<const char*>(value));
      return Error();
    case TRITONSERVER_PARAMETER_INT:
      parameters->Set(name, *static_cast<const int64_t*>(value));
      return Error();
    case TRITONSERVER_PARAMETER_BOOL:
      parameters->Set(name, *static_cast<const bool*>(value));
      return Error();
    case TRITONSERVER_PARAMETER_DOUBLE:
      parameters->Set(name, *static_cast<const double*>(value));
      return Error();
    default:
      return Error::InvalidArg(StrCat("Unsupported parameter type for parameter '", name, "'."));
  }
}

}  // namespace nereid_backend
