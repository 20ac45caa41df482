// Tensors of strings: a length of 4 bytes, little-endian, before each element. All REQUIRE the GIL.
#ifndef NEREID_BACKENDS_PYTHON_WORKER_TENSOR_STRINGS_H_
#define NEREID_BACKENDS_PYTHON_WORKER_TENSOR_STRINGS_H_

#include <string>

#include "backends/python/worker/numpy_interface.h"
#include "backends/python/worker/tensor.h"

namespace nereid_python::worker {

// The elements of an array of objects or of fixed-size bytes. Objects other than bytes become
// str(object) in UTF-8. False with an exception.
bool SerializeStrings(const ArrayInterface& array, std::string* bytes);
// A new array of bytes objects. None with an exception, also if the tensor's bytes are not valid
// strings.
Ref DecodeStrings(const Tensor& tensor);

}  // namespace nereid_python::worker

#endif  // NEREID_BACKENDS_PYTHON_WORKER_TENSOR_STRINGS_H_
