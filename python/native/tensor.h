// SPDX-License-Identifier: Apache-2.0
// Tensor: data type, shape and memory of a tensor, and the Python type that holds it. It is what
// outputs are, and one of the things that inputs can be. Guarded by the GIL.
#ifndef NEREID_PYTHON_NATIVE_TENSOR_H_
#define NEREID_PYTHON_NATIVE_TENSOR_H_

#include <cstdint>
#include <vector>

#include "backends/sdk/python/data_types.h"
#include "backends/sdk/python/python_api.h"

namespace nereid_python::native {

struct Tensor {
  DataType type = DataType::kInvalid;
  std::vector<int64_t> shape;
  char* data = nullptr;  // elements in C order; kBytes: a length of 4 bytes before each
  uint64_t size = 0;     // bytes
  Keeper keeper;         // of `data`
};

// Adds the type `Tensor` to the module. False with an exception.
bool AddTensorType(PyObject* module);
// A new object; null with an exception.
PyObject* NewTensor(Tensor tensor);
// The Tensor of an object of that type; null, without an exception, if it is another object.
Tensor* TensorOf(PyObject* object);

// A tuple of Python's numbers. None with an exception.
Ref ShapeTuple(const std::vector<int64_t>& shape);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_TENSOR_H_
