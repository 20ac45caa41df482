// SPDX-License-Identifier: Apache-2.0
// Tensor: name, type, shape and memory of a tensor, and the Python type `Tensor` that holds it.
// Guarded by the GIL.
//
// The memory is in a block of the in file or the file of a client (inputs), in a numpy array, in a
// DLPack tensor, or in separate bytes (serialised strings).
#ifndef NEREID_BACKENDS_PYTHON_WORKER_TENSOR_H_
#define NEREID_BACKENDS_PYTHON_WORKER_TENSOR_H_

#include <cstdint>
#include <vector>

#include "backends/python/worker/python_api.h"
#include "backends/sdk/python/data_types.h"

namespace nereid_python::worker {

struct Tensor {
  Ref name;  // a str
  DataType type = DataType::kInvalid;
  std::vector<int64_t> shape;
  char* data = nullptr;  // elements in C order; kBytes: a length of 4 bytes before each
  uint64_t size = 0;
  Keeper keeper;        // of `data`
  bool placed = false;  // an output that is in the memory of its client: no data, but a size
  bool cold = false;    // a place for an output that is in no cache (StreamCopy)
  Ref array;            // result of as_numpy(), once computed
};

// Creates the type and adds it to `module`. False with an exception.
bool AddTensorType(PyObject* module);
// A new Tensor object; null with an exception.
PyObject* NewTensor(Tensor tensor);
// rebuild_tensor(name, type, shape, bytes), which pickle calls. Null with an exception.
PyObject* RebuildTensor(PyObject* module, PyObject* args);
// The Tensor of an object of that type, or of a class derived from it; null if it is another
// object. Raises no exception.
Tensor* TensorOf(PyObject* object);

// Writes an output to the memory that the tensor `place` describes. A new Tensor object, which says
// so to the server; `output` itself, as a new reference, if it has no room there. Null with an
// exception. The GIL is released meanwhile.
PyObject* PlaceTensor(const Tensor& place, PyObject* output);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_TENSOR_H_
