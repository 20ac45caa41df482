// SPDX-License-Identifier: Apache-2.0
// Complete type behind TRITONSERVER_Parameter. Immutable.
#ifndef NEREID_C_API_PARAMETER_H_
#define NEREID_C_API_PARAMETER_H_

#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <variant>

#include "triton/core/tritonserver.h"

struct TRITONSERVER_Parameter {
  // Alternatives in the order of TRITONSERVER_ParameterType. The bytes of the last alternative
  // belong to the application and outlive the parameter.
  using Value = std::variant<std::string, int64_t, bool, double, absl::Span<const char>>;

  TRITONSERVER_ParameterType type() const {
    return static_cast<TRITONSERVER_ParameterType>(value.index());
  }

  const std::string name;
  const Value value;
};

#endif  // NEREID_C_API_PARAMETER_H_
