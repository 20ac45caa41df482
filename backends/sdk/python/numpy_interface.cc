// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/python/numpy_interface.h"

namespace nereid_python {
namespace {

// Attributes of the module numpy, looked up once. Guarded by the GIL.
struct Numpy {
  PyObject* asarray = nullptr;
  PyObject* ascontiguousarray = nullptr;
  PyObject* empty = nullptr;
  PyObject* dtype = nullptr;
};

// Null with an exception when numpy cannot be imported.
const Numpy* GetNumpy() {
  static Numpy numpy;
  if (numpy.dtype != nullptr) return &numpy;
  const Ref module(PyImport_ImportModule("numpy"));
  if (!module) return nullptr;
  Ref asarray(PyObject_GetAttrString(module.get(), "asarray"));
  Ref ascontiguousarray(PyObject_GetAttrString(module.get(), "ascontiguousarray"));
  Ref empty(PyObject_GetAttrString(module.get(), "empty"));
  Ref dtype(PyObject_GetAttrString(module.get(), "dtype"));
  if (!asarray || !ascontiguousarray || !empty || !dtype) return nullptr;
  numpy = {asarray.release(), ascontiguousarray.release(), empty.release(), dtype.release()};
  return &numpy;
}

Ref CallWith(PyObject* function, PyObject* argument) {
  return Ref(PyObject_CallFunctionObjArgs(function, argument, nullptr));
}

}  // namespace

Ref ArrayCapsule(PyObject* array) {
  static PyObject* const name = PyUnicode_InternFromString("__array_struct__");
  return Ref(PyObject_GetAttr(array, name));
}

const ArrayInterface* ArrayOf(const Ref& capsule) {
  auto* array = static_cast<ArrayInterface*>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (array != nullptr && array->two != 2) {
    PyErr_SetString(PyExc_TypeError, "__array_struct__ does not hold an array");
    return nullptr;
  }
  return array;
}

bool IsContiguous(const ArrayInterface& array) {
  Py_ssize_t expected = array.element_size;
  bool contiguous = true;
  for (int i = array.dimensions; i-- > 0;) {
    if (array.shape[i] == 0) return true;
    if (array.shape[i] != 1 && array.strides[i] != expected) contiguous = false;
    expected *= array.shape[i];
  }
  return contiguous;
}

std::string DtypeName(PyObject* array) {
  const Ref dtype(PyObject_GetAttrString(array, "dtype"));
  const Ref name(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  std::string_view text;
  if (!name || !Utf8(name.get(), &text)) {
    PyErr_Clear();
    return "";
  }
  return std::string(text);
}

DataType DataTypeOf(PyObject* array, const ArrayInterface& inside) {
  const DataType type = FromNumpy(inside.kind, inside.element_size);
  if (type == DataType::kInvalid && inside.element_size == 2 && DtypeName(array) == "bfloat16") {
    return DataType::kBf16;
  }
  return type;
}

Ref AsArray(PyObject* object) {
  const Numpy* numpy = GetNumpy();
  return numpy == nullptr ? Ref() : CallWith(numpy->asarray, object);
}

Ref AsContiguousArray(PyObject* array) {
  const Numpy* numpy = GetNumpy();
  return numpy == nullptr ? Ref() : CallWith(numpy->ascontiguousarray, array);
}

Ref EmptyObjectArray(const std::vector<int64_t>& shape) {
  const Numpy* numpy = GetNumpy();
  if (numpy == nullptr) return Ref();
  const Ref dims(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!dims) return Ref();
  for (size_t i = 0; i < shape.size(); ++i) {
    PyObject* dim = PyLong_FromLongLong(shape[i]);
    if (dim == nullptr) return Ref();
    PyTuple_SetItem(dims.get(), static_cast<Py_ssize_t>(i), dim);
  }
  static PyObject* const object_type = PyUnicode_InternFromString("O");
  return Ref(PyObject_CallFunctionObjArgs(numpy->empty, dims.get(), object_type, nullptr));
}

Ref MakeDtype(char kind, int element_size) {
  const Numpy* numpy = GetNumpy();
  if (numpy == nullptr) return Ref();
  const Ref text(PyUnicode_FromFormat("%c%d", kind, element_size));
  return text ? CallWith(numpy->dtype, text.get()) : Ref();
}

Ref ViewOf(PyObject* provider) { return AsArray(provider); }

}  // namespace nereid_python
