// Converts tensors from and to DLPack capsules, using the unversioned structure, which every reader
// knows. All REQUIRE the GIL.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_TENSOR_DLPACK_H_
#define NEREID_BACKENDS_PYTHON_WORKER_TENSOR_DLPACK_H_

#include "backends/python/worker/python_api.h"
#include "backends/python/worker/tensor.h"

namespace nereid_python::worker {

// Fills in everything but the name from a capsule, or from an object that provides one through
// `__dlpack__`. False with an exception.
bool TensorFromDlpack(PyObject* object, Tensor* tensor);
// A new capsule, which keeps `self`, the object of `tensor`, alive. Null with an exception.
PyObject* DlpackOfTensor(PyObject* self, const Tensor& tensor);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_TENSOR_DLPACK_H_
