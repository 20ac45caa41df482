// SPDX-License-Identifier: Apache-2.0
// Parameters of the server's C API: their ownership, and those of requests and responses, which are
// JSON in the messages of a process. Stateless.
#ifndef NEREID_BACKENDS_PYTHON_PARAMETERS_H_
#define NEREID_BACKENDS_PYTHON_PARAMETERS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "backends/sdk/error.h"
#include "backends/sdk/json.h"
#include "triton/core/tritonserver.h"

namespace nereid_backend {

struct ParameterDeleter {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};
using OwnedParameter = std::unique_ptr<TRITONSERVER_Parameter, ParameterDeleter>;

// Adds to `parameters` what a function of the C API says of a parameter. INVALID_ARG for a type
// that JSON lacks.
Error AddParameter(const char* name, TRITONSERVER_ParameterType type, const void* value,
                   Json* parameters);

// The functions of the C API that set a parameter of `Target`.
template <typename Target>
struct ParameterSetters {
  TRITONSERVER_Error* (*set_text)(Target*, const char* name, const char* value);
  TRITONSERVER_Error* (*set_int)(Target*, const char* name, int64_t value);
  TRITONSERVER_Error* (*set_bool)(Target*, const char* name, bool value);
  TRITONSERVER_Error* (*set_double)(Target*, const char* name, double value);
};

// Sets the members of `text`, which is a JSON object or, without parameters, empty.
template <typename Target>
Error SetParameters(const std::string& text, const ParameterSetters<Target>& setters,
                    Target* target) {
  if (text.empty()) return Error();
  NB_ASSIGN_OR_RETURN(const Json parameters, Json::Parse(text));
  for (const auto& [member, value] : parameters.members()) {
    const char* const name = member.c_str();
    if (value.is_bool()) {
      NB_RETURN_IF_ERROR(setters.set_bool(target, name, value.AsBool()));
    } else if (value.is_int()) {
      NB_RETURN_IF_ERROR(setters.set_int(target, name, value.AsInt()));
    } else if (value.is_double()) {
      NB_RETURN_IF_ERROR(setters.set_double(target, name, value.AsDouble()));
    } else if (value.is_string()) {
      NB_RETURN_IF_ERROR(setters.set_text(target, name, value.AsString().c_str()));
    } else {
      return Error::Internal(
          StrCat("parameter '", member, "' of a Python model is no string, number or bool"));
    }
  }
  return Error();
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_PARAMETERS_H_
