// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "backends/python/worker/stream_copy.h"
#include "backends/python/worker/tensor_numpy.h"
#include "backends/sdk/python/dlpack.h"

namespace nereid_python::worker {
namespace {

// --- DLPack.

// kInvalid, with an exception, for types that no tensor can have.
DataType TypeFromDlpack(const DlDataType& given) {
  if (given.code == kDlBfloat && given.bits != 16) {
    RaiseModelError("Expected BF16 tensor to have 16 bits, but had: " + std::to_string(given.bits));
    return DataType::kInvalid;
  }
  const DataType type = FromDlDataType(given);
  if (type == DataType::kInvalid) RaiseModelError("Dtype is invalid.");
  return type;
}

// `object` itself if it is a capsule, otherwise the capsule that it provides.
Ref CapsuleFrom(PyObject* object) {
  if (PyCapsule_CheckExact(object)) return Ref::Borrow(object);
  if (!PyObject_HasAttrString(object, "__dlpack__") ||
      !PyObject_HasAttrString(object, "__dlpack_device__")) {
    RaiseModelError(
        "Provided tensor is not supported. Tensor must be a DLPack capsule         or have "
        "`__dlpack__` and `__dlpack_device__` attributes");
    return Ref();
  }
  const Ref method(PyObject_GetAttrString(object, "__dlpack__"));
  const Ref arguments(PyTuple_New(0));
  const Ref keywords(PyDict_New());
  if (!method || !arguments || !keywords) return Ref();
  if (PyDict_SetItemString(keywords.get(), "stream", Py_None) != 0) return Ref();
  return Ref(PyObject_Call(method.get(), arguments.get(), keywords.get()));
}

bool Check(const DlTensor& given, Tensor* tensor) {
  if (given.device.type != kDlCpu && given.device.type != kDlCudaHost) {
    RaiseModelError("DLDevice type " + std::to_string(given.device.type) +
                    " is not support by Python backend.");
    return false;
  }
  tensor->type = TypeFromDlpack(given.type);
  if (tensor->type == DataType::kInvalid) return false;
  if (!IsContiguous(given)) {
    RaiseModelError(
        "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in "
        "C-Order are supported.");
    return false;
  }
  tensor->shape.assign(given.shape, given.shape + std::max(given.dimensions, 0));
  uint64_t count = 0;
  if (!ElementCount(tensor->shape, &count)) {
    RaiseModelError("The shape of the DLPack tensor is no shape.");
    return false;
  }
  tensor->data = static_cast<char*>(given.data) + given.byte_offset;
  tensor->size = count * ElementSize(tensor->type);
  return true;
}

// Fills in everything but the name from a capsule, or from an object that provides one through
// `__dlpack__`. False with an exception.
bool TensorFromDlpack(PyObject* object, Tensor* tensor) {
  const Ref capsule = CapsuleFrom(object);
  if (!capsule) return false;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.get(), kDlFresh));
  if (managed == nullptr || !Check(managed->tensor, tensor)) return false;
  if (PyCapsule_SetName(capsule.get(), kDlTaken) != 0) return false;
  tensor->keeper = Keeper(managed, [](void* taken) {
    auto* done = static_cast<DlManagedTensor*>(taken);
    if (done->deleter != nullptr) done->deleter(done);
  });
  return true;
}

// A new capsule, which keeps `self`, the object of `tensor`, alive. Null with an exception.
PyObject* DlpackOfTensor(PyObject* self, const Tensor& tensor) {
  if (tensor.type == DataType::kBytes) {
    return RaiseModelError("DLPack does not have support for string tensors.");
  }
  return NewDlpackCapsule(tensor.type, tensor.shape, tensor.data, KeepObject(self));
}

// --- The type.

struct TensorObject {
  PyObject_HEAD Tensor tensor;
};

PyTypeObject* tensor_type = nullptr;  // set once, when the module is made

Tensor& Inside(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->tensor; }

// An empty object of `type`, which may be a class derived from ours.
PyObject* Allocate(PyTypeObject* type) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (self != nullptr) new (&Inside(self)) Tensor();
  return self;
}

// The name that a model gives: a str, or bytes in UTF-8, as in conversions.py. None with an
// exception.
Ref NameFrom(PyObject* given, const char* function) {
  if (PyUnicode_Check(given)) return Ref(PyUnicode_FromObject(given));
  if (!PyBytes_Check(given)) {
    PyErr_Format(PyExc_TypeError,
                 "%s(): incompatible function arguments. 'name' must be a str or bytes, not %R",
                 function, reinterpret_cast<PyObject*>(Py_TYPE(given)));
    return Ref();
  }
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(given, &data, &size) != 0) return Ref();
  Ref name(PyUnicode_DecodeUTF8(data, size, nullptr));
  if (!name) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s(): incompatible function arguments. 'name' is not UTF-8: %R",
                 function, given);
  }
  return name;
}

// Every tensor needs a name; all ways to create one fail with the same text.
bool CheckName(const Ref& name) {
  std::string_view text;
  if (!Utf8(name.get(), &text)) return false;
  if (!text.empty()) return true;
  RaiseModelError("Tensor name cannot be an empty string.");
  return false;
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char name_key[] = "name";
  static char array_key[] = "numpy_array";
  static char* keys[] = {name_key, array_key, nullptr};
  PyObject* given = nullptr;
  PyObject* array = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:Tensor", keys, &given, &array)) {
    return nullptr;
  }
  Ref name = NameFrom(given, "Tensor");
  if (!name) return nullptr;
  if (array == Py_None) {  // what is no array comes before what is no name, as in Triton
    PyErr_SetString(PyExc_TypeError,
                    "Tensor(): incompatible function arguments. 'numpy_array' must be a numpy "
                    "array, not None");
    return nullptr;
  }
  if (!CheckName(name)) return nullptr;
  Ref self(Allocate(type));
  if (!self || !TensorFromArray(array, &Inside(self.get()))) return nullptr;
  Inside(self.get()).name = std::move(name);
  return self.release();
}

void Dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Inside(self).~Tensor();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* Name(PyObject* self, PyObject*) {
  PyObject* name = Inside(self).name.get();
  Py_INCREF(name);
  return name;
}

PyObject* Shape(PyObject* self, PyObject*) {
  const std::vector<int64_t>& shape = Inside(self).shape;
  Ref list(PyList_New(static_cast<Py_ssize_t>(shape.size())));
  if (!list) return nullptr;
  for (size_t i = 0; i < shape.size(); ++i) {
    PyObject* dim = PyLong_FromLongLong(shape[i]);
    if (dim == nullptr) return nullptr;
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), dim);
  }
  return list.release();
}

PyObject* TritonDtype(PyObject* self, PyObject*) {
  return PyLong_FromLong(static_cast<long>(Inside(self).type));
}

PyObject* IsCpu(PyObject*, PyObject*) { return PyBool_FromLong(1); }

PyObject* AsNumpy(PyObject* self, PyObject*) { return ArrayOfTensor(&Inside(self)); }

PyObject* FromDlpack(PyObject*, PyObject* args, PyObject* keywords) {
  static char name_key[] = "name";
  static char object_key[] = "tensor";
  static char* keys[] = {name_key, object_key, nullptr};
  PyObject* given = nullptr;
  PyObject* object = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:from_dlpack", keys, &given, &object)) {
    return nullptr;
  }
  Tensor tensor;
  tensor.name = NameFrom(given, "from_dlpack");
  if (!tensor.name || !CheckName(tensor.name) || !TensorFromDlpack(object, &tensor)) return nullptr;
  return NewTensor(std::move(tensor));
}

PyObject* ToDlpack(PyObject* self, PyObject*) { return DlpackOfTensor(self, Inside(self)); }

PyObject* Dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  // Newer versions of the protocol have more keywords. They cause a TypeError here, which tells the
  // reader to ask for the unversioned structure.
  static char stream_key[] = "stream";
  static char* keys[] = {stream_key, nullptr};
  PyObject* stream = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:__dlpack__", keys, &stream)) return nullptr;
  return DlpackOfTensor(self, Inside(self));
}

PyObject* DlpackDevice(PyObject*, PyObject*) { return Py_BuildValue("(ii)", kDlCpu, 0); }

// For pickle: how a process that the model has forked and the process of the model pass tensors.
PyObject* Reduce(PyObject* self, PyObject*) {
  const Tensor& tensor = Inside(self);
  const Ref module(PyImport_ImportModule("_nereid_native"));
  if (!module) return nullptr;
  Ref rebuild(PyObject_GetAttrString(module.get(), "rebuild_tensor"));
  Ref shape(Shape(self, nullptr));
  Ref bytes(PyByteArray_FromStringAndSize(tensor.data, static_cast<Py_ssize_t>(tensor.size)));
  if (!rebuild || !shape || !bytes) return nullptr;
  return Py_BuildValue("N(OiNN)", rebuild.release(), tensor.name.get(),
                       static_cast<int>(tensor.type), shape.release(), bytes.release());
}

template <typename Function>
PyCFunction AsMethod(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

bool AddTensorType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"name", Name, METH_NOARGS, nullptr},
      {"shape", Shape, METH_NOARGS, nullptr},
      {"triton_dtype", TritonDtype, METH_NOARGS, nullptr},
      {"is_cpu", IsCpu, METH_NOARGS, nullptr},
      {"as_numpy", AsNumpy, METH_NOARGS, nullptr},
      {"from_dlpack", AsMethod(FromDlpack), METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
      {"to_dlpack", ToDlpack, METH_NOARGS, nullptr},
      {"__reduce__", Reduce, METH_NOARGS, nullptr},
      {"__dlpack__", AsMethod(Dlpack), METH_VARARGS | METH_KEYWORDS, nullptr},
      {"__dlpack_device__", DlpackDevice, METH_NOARGS, nullptr},
      {},
  };
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(New)},
      {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
      {Py_tp_methods, methods},
      {0, nullptr},
  };
  static PyType_Spec spec = {"c_python_backend_utils.Tensor", sizeof(TensorObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (tensor_type == nullptr) return false;
  return PyObject_SetAttrString(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type)) == 0;
}

PyObject* NewTensor(Tensor tensor) {
  PyObject* self = Allocate(tensor_type);
  if (self != nullptr) Inside(self) = std::move(tensor);
  return self;
}

// Its memory is that of the bytearray.
PyObject* RebuildTensor(PyObject*, PyObject* args) {
  PyObject* name = nullptr;
  int type = 0;
  PyObject* shape = nullptr;
  PyObject* bytes = nullptr;
  if (!PyArg_ParseTuple(args, "UiO!O!:rebuild_tensor", &name, &type, &PyList_Type, &shape,
                        &PyByteArray_Type, &bytes)) {
    return nullptr;
  }
  Tensor tensor;
  tensor.name = Ref::Borrow(name);
  for (Py_ssize_t i = 0; i < PyList_Size(shape); ++i) {
    tensor.shape.push_back(PyLong_AsLongLong(PyList_GetItem(shape, i)));
    if (PyErr_Occurred() != nullptr) return nullptr;
  }
  tensor.size = static_cast<uint64_t>(PyByteArray_Size(bytes));
  uint64_t count = 0;
  const bool known = type > 0 && type < kDataTypes && ElementCount(tensor.shape, &count);
  tensor.type = known ? DataType{static_cast<uint8_t>(type)} : DataType::kInvalid;
  // The number of strings is checked when they are decoded.
  const uint32_t element = ElementSize(tensor.type);
  if (!known || (element > 0 && tensor.size != count * element)) {
    PyErr_SetString(PyExc_ValueError, "these are not the parts of a tensor");
    return nullptr;
  }
  if (tensor.size > 0) tensor.data = PyByteArray_AsString(bytes);
  tensor.keeper = KeepObject(bytes);
  return NewTensor(std::move(tensor));
}

// The output may be a view of an input in the same file.
PyObject* PlaceTensor(const Tensor& place, PyObject* output) {
  const Tensor& from = *TensorOf(output);
  if (from.size == 0 || from.size > place.size || place.data == nullptr) {
    Py_INCREF(output);
    return output;
  }
  Tensor placed;
  placed.name = Ref::Borrow(from.name.get());
  placed.type = from.type;
  placed.shape = from.shape;
  placed.size = from.size;
  placed.placed = true;
  {
    const WithoutGil released;
    if (place.cold) {
      StreamCopy(place.data, from.data, from.size);
    } else {
      std::memmove(place.data, from.data, from.size);
    }
  }
  return NewTensor(std::move(placed));
}

Tensor* TensorOf(PyObject* object) {
  const bool is = Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type);
  return is ? &Inside(object) : nullptr;
}

}  // namespace nereid_python::worker
