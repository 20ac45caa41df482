// SPDX-License-Identifier: Apache-2.0
// Responses of the server as Python's objects. REQUIRES the GIL.
#ifndef NEREID_PYTHON_NATIVE_RESPONSE_H_
#define NEREID_PYTHON_NATIVE_RESPONSE_H_

#include "backends/sdk/python/python_api.h"
#include "python/native/call.h"

namespace nereid_python::native {

// Reads a response and deletes it. A tuple: outputs (dict of Tensor by name), model's name, its
// version, request's id, parameters (dict or None), error (an exception or None), final (bool).
// Outputs, name and id are None if only the final flag came. Null with an exception.
PyObject* ReadResponse(const Call::Arrival& arrival);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_RESPONSE_H_
