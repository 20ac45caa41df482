// SPDX-License-Identifier: Apache-2.0
// Errors of the server as exceptions of Python. All REQUIRE the GIL unless stated otherwise.
#ifndef NEREID_PYTHON_NATIVE_ERROR_H_
#define NEREID_PYTHON_NATIVE_ERROR_H_

#include <string>

#include "backends/sdk/python/python_api.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {

using CError = TRITONSERVER_Error*;

// Takes a tuple of exception classes, indexed by TRITONSERVER_Error_Code. False with an exception.
bool SetErrorTypes(PyObject* types);

// Raises `error`, which is taken over. Null, for `return Raise(...)`.
PyObject* Raise(CError error);
PyObject* Raise(TRITONSERVER_Error_Code code, const std::string& text);
inline PyObject* RaiseInvalid(const std::string& text) {
  return Raise(TRITONSERVER_ERROR_INVALID_ARG, text);
}
// An exception for `error`, which is taken over; none, with another one raised, if that fails.
Ref MakeError(CError error);

// The type's name of an object, for messages.
std::string TypeName(PyObject* object);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_ERROR_H_
