// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Parameter*: named values passed in by an application.
#include "c_api/parameter.h"

#include "c_api/handles.h"

namespace {

TRITONSERVER_Parameter* NewParameter(const char* name, TRITONSERVER_Parameter::Value value) {
  return new TRITONSERVER_Parameter{std::string(nereid::Text(name)), std::move(value)};
}

}  // namespace

extern "C" {

const char* TRITONSERVER_ParameterTypeString(TRITONSERVER_ParameterType paramtype) {
  switch (paramtype) {
    case TRITONSERVER_PARAMETER_STRING:
      return "STRING";
    case TRITONSERVER_PARAMETER_INT:
      return "INT";
    case TRITONSERVER_PARAMETER_BOOL:
      return "BOOL";
    case TRITONSERVER_PARAMETER_DOUBLE:
      return "DOUBLE";
    case TRITONSERVER_PARAMETER_BYTES:
      return "BYTES";
  }
  return "<invalid>";
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(const char* name,
                                                  const TRITONSERVER_ParameterType type,
                                                  const void* value) try {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      return NewParameter(name, std::string(nereid::Text(static_cast<const char*>(value))));
    case TRITONSERVER_PARAMETER_INT:
      return NewParameter(name, *static_cast<const int64_t*>(value));
    case TRITONSERVER_PARAMETER_BOOL:
      return NewParameter(name, *static_cast<const bool*>(value));
    case TRITONSERVER_PARAMETER_DOUBLE:
      return NewParameter(name, *static_cast<const double*>(value));
    case TRITONSERVER_PARAMETER_BYTES:
      break;  // has its own function
  }
  return nullptr;
} catch (...) {
  return nullptr;
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(const char* name, const void* byte_ptr,
                                                       const uint64_t size) try {
  return NewParameter(name, absl::MakeConstSpan(static_cast<const char*>(byte_ptr), size));
} catch (...) {
  return nullptr;
}

void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* parameter) { delete parameter; }

}  // extern "C"
