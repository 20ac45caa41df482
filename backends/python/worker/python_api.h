// SPDX-License-Identifier: Apache-2.0
// What all files of this module use of Python, and the error that models see.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_PYTHON_API_H_
#define NEREID_BACKENDS_PYTHON_WORKER_PYTHON_API_H_

#include <string_view>

#include "backends/sdk/python/python_api.h"

namespace nereid_python::worker {

// TritonModelException of triton_python_backend_utils. Null for `return RaiseModelError(...)`.
PyObject* RaiseModelError(std::string_view text);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_PYTHON_API_H_
