// SPDX-License-Identifier: Apache-2.0
// Inputs of a request: finds type, shape and bytes in what Python programs have. REQUIRES the GIL.
#ifndef NEREID_PYTHON_NATIVE_INPUT_H_
#define NEREID_PYTHON_NATIVE_INPUT_H_

#include <string_view>

#include "backends/sdk/python/python_api.h"
#include "python/native/call.h"

namespace nereid_python::native {

// A Tensor of such a value, which it keeps alive; without conversions. Null with an exception.
PyObject* TensorFrom(PyObject* value);

// Adds an input to the call's request. `value` is a Tensor, an array of numpy or something else
// with
// `__array_struct__`, or something with `__dlpack__`; its bytes are not copied, and it is kept
// until the end of the call. Arrays of strings are copied. What is none of these goes through
// `convert(name, value)`, which returns one. False with an exception.
bool AddInput(Call* call, PyObject* name, PyObject* value, PyObject* convert);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_INPUT_H_
