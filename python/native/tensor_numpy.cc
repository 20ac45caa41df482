// Arrays of numpy on the memory of a Tensor.
#include "backends/sdk/python/strings.h"
#include "python/native/error.h"
#include "python/native/tensor.h"

namespace nereid_python::native {
namespace {

PyObject* ndarray = nullptr;             // numpy.ndarray, once needed
PyObject* numpy_types[kDataTypes] = {};  // numpy.dtype objects, once needed

constexpr const char* kNames[kDataTypes] = {nullptr,   "bool",    "uint8",   "uint16", "uint32",
                                            "uint64",  "int8",    "int16",   "int32",  "int64",
                                            "float16", "float32", "float64", "object", "bfloat16"};

// numpy has bfloat16 only with the package ml_dtypes. Without it, the bits are seen as uint16.
Ref Bfloat16() {
  const Ref module(PyImport_ImportModule("ml_dtypes"));
  if (module) return Ref(PyObject_GetAttrString(module.get(), "bfloat16"));
  if (PyErr_ExceptionMatches(PyExc_ImportError) == 0) return Ref();
  PyErr_Clear();
  return Ref(PyUnicode_FromString("uint16"));
}

PyObject* Ndarray() {
  if (ndarray == nullptr) {
    const Ref numpy(PyImport_ImportModule("numpy"));
    if (numpy) ndarray = PyObject_GetAttrString(numpy.get(), "ndarray");
  }
  return ndarray;
}

}  // namespace

PyObject* NumpyType(DataType type) {
  PyObject*& known = numpy_types[static_cast<uint8_t>(type)];
  if (known != nullptr) return known;
  const Ref numpy(PyImport_ImportModule("numpy"));
  if (!numpy) return nullptr;
  const Ref dtype(PyObject_GetAttrString(numpy.get(), "dtype"));
  const Ref name = type == DataType::kBf16
                       ? Bfloat16()
                       : Ref(PyUnicode_FromString(kNames[static_cast<uint8_t>(type)]));
  if (!dtype || !name) return nullptr;
  known = PyObject_CallFunctionObjArgs(dtype.get(), name.get(), nullptr);
  return known;
}

PyObject* ArrayOfTensor(PyObject* self, const Tensor& tensor) {
  if (tensor.type == DataType::kBytes) {
    const char* why = nullptr;
    Ref array = DecodeStrings(tensor.shape, {tensor.data, tensor.size}, &why);
    return why != nullptr ? RaiseInvalid(why) : array.release();
  }
  PyObject* const dtype = NumpyType(tensor.type);
  const Ref shape = ShapeTuple(tensor.shape);
  if (dtype == nullptr || !shape || Ndarray() == nullptr) return nullptr;
  return PyObject_CallFunctionObjArgs(ndarray, shape.get(), dtype, self, nullptr);
}

}  // namespace nereid_python::native
