// SPDX-License-Identifier: Apache-2.0
// Parameter: a named value carried by a request or a response. A plain value.
#ifndef NEREID_MODEL_PARAMETER_H_
#define NEREID_MODEL_PARAMETER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "model/copy_variant.h"

namespace nereid {

// Alternatives in the order of TRITONSERVER_ParameterType: STRING, INT, BOOL, DOUBLE.
using ParameterValue = std::variant<std::string, int64_t, bool, double>;

// The value in the form that the C API returns: the characters of a string, otherwise a pointer to
// the value. Valid while `value` lives.
inline const void* ParameterValuePointer(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->c_str();
  if (const auto* number = std::get_if<int64_t>(&value)) return number;
  if (const auto* flag = std::get_if<bool>(&value)) return flag;
  return std::get_if<double>(&value);
}

struct Parameter {
  Parameter() = default;
  Parameter(std::string name_in, ParameterValue value_in)
      : name(std::move(name_in)), value(std::move(value_in)) {}
  Parameter(const Parameter& other) : name(other.name), value(CopyVariant(other.value)) {}
  Parameter(Parameter&&) = default;
  Parameter& operator=(const Parameter& other) { return *this = Parameter(other); }
  Parameter& operator=(Parameter&&) = default;

  std::string name;
  ParameterValue value;
};

}  // namespace nereid

#endif  // NEREID_MODEL_PARAMETER_H_
