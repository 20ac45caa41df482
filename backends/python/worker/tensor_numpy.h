// SPDX-License-Identifier: Apache-2.0
// Converts tensors from and to numpy arrays. All REQUIRE the GIL.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_TENSOR_NUMPY_H_
#define NEREID_BACKENDS_PYTHON_WORKER_TENSOR_NUMPY_H_

#include "backends/python/worker/python_api.h"
#include "backends/python/worker/tensor.h"

namespace nereid_python::worker {

// Fills in everything but the name. False with an exception.
bool TensorFromArray(PyObject* array_like, Tensor* tensor);
// A new reference to the array, the same each time; null with an exception.
PyObject* ArrayOfTensor(Tensor* tensor);
// Creates the internal type through which numpy accesses the memory of a tensor. False with an
// exception.
bool AddArraySourceType();

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_TENSOR_NUMPY_H_
