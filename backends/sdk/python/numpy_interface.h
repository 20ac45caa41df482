// SPDX-License-Identifier: Apache-2.0
// numpy's array interface: the structure behind `__array_struct__`, which numpy's documentation
// specifies for every version, and the few functions of numpy that are called by name. No header of
// numpy is needed.
#ifndef NEREID_BACKENDS_SDK_PYTHON_NUMPY_INTERFACE_H_
#define NEREID_BACKENDS_SDK_PYTHON_NUMPY_INTERFACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/sdk/python/data_types.h"
#include "backends/sdk/python/python_api.h"

namespace nereid_python {

struct ArrayInterface {
  int two;  // always 2
  int dimensions;
  char kind;
  int element_size;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* description;
};

enum ArrayFlags : int {
  kArrayCContiguous = 0x1,
  kArrayAligned = 0x100,
  kArrayNotSwapped = 0x200,
  kArrayWriteable = 0x400,
  kArrayHasDescription = 0x800,  // `description` is set
};

// The capsule with the description of `array`; none, with an exception, if it is not an array.
Ref ArrayCapsule(PyObject* array);
// The content of the capsule, valid as long as the capsule. Null with an exception.
const ArrayInterface* ArrayOf(const Ref& capsule);
// Whether the elements are contiguous in C order; dimensions of size 1 do not count.
bool IsContiguous(const ArrayInterface& array);

// The name of an array's data type, for instance "bfloat16"; "" if it has none.
std::string DtypeName(PyObject* array);
// The data type of an array, whose description is `inside`; kInvalid if no tensor can have it.
// numpy has BF16 only through the package ml_dtypes, as a type that is known by its name.
DataType DataTypeOf(PyObject* array, const ArrayInterface& inside);

// numpy.asarray, numpy.ascontiguousarray; none with an exception.
Ref AsArray(PyObject* object);
Ref AsContiguousArray(PyObject* array);
// An array of objects, all of them None.
Ref EmptyObjectArray(const std::vector<int64_t>& shape);
// numpy.dtype of elements of this kind and size; none with an exception. As the `description` of an
// array, the dtype spares numpy the work of parsing a text.
Ref MakeDtype(char kind, int element_size);
// An array over foreign memory, which `provider` (with `__array_struct__`) keeps alive.
Ref ViewOf(PyObject* provider);

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_SDK_PYTHON_NUMPY_INTERFACE_H_
