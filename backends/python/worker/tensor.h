// Tensor: name, type, shape and memory of a tensor, and the Python type `Tensor` that holds it.
// Guarded by the GIL.
//
// The memory lies in a block of the in file (inputs), in a numpy array, in what DLPack brought, or
// in bytes of its own (serialised strings).
#ifndef NEREID_BACKENDS_PYTHON_WORKER_TENSOR_H_
#define NEREID_BACKENDS_PYTHON_WORKER_TENSOR_H_

#include <cstdint>
#include <vector>

#include "backends/python/worker/data_types.h"
#include "backends/python/worker/python_api.h"

namespace nereid_python::worker {

struct Tensor {
  Ref name;  // a str
  DataType type = DataType::kInvalid;
  std::vector<int64_t> shape;
  char* data = nullptr;  // elements in C order; kBytes: a length of 4 bytes before each
  uint64_t size = 0;
  Keeper keeper;  // of `data`
  Ref array;      // what as_numpy() gives, once it is known
};

// Makes the type and puts it into `module`. False with an exception.
bool AddTensorType(PyObject* module);
// A new Tensor object; null with an exception.
PyObject* NewTensor(Tensor tensor);
// The Tensor of an object of that type, or of a class derived from it; null when it is no such
// object. No exception.
Tensor* TensorOf(PyObject* object);

// How many elements a shape has; false when that is no number of bytes that memory could have.
bool ElementCount(const std::vector<int64_t>& shape, uint64_t* count);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_TENSOR_H_
