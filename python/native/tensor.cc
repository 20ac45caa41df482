#include "python/native/tensor.h"

#include <string>

#include "backends/sdk/python/dlpack.h"
#include "python/native/buffer_protocol.h"
#include "python/native/error.h"
#include "python/native/object.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {
namespace {

using TensorObject = Object<Tensor>;
PyTypeObject* tensor_type = nullptr;  // set once, when the module is made

const char* NameOf(DataType type) {
  return TRITONSERVER_DataTypeString(static_cast<TRITONSERVER_DataType>(type));
}

PyObject* GetType(PyObject* self, void*) {
  return PyUnicode_FromString(NameOf(TensorObject::Of(self).type));
}

PyObject* GetShape(PyObject* self, void*) {
  return ShapeTuple(TensorObject::Of(self).shape).release();
}

PyObject* GetSize(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(TensorObject::Of(self).size);
}

PyObject* GetAddress(PyObject* self, void*) {
  return PyLong_FromVoidPtr(TensorObject::Of(self).data);
}

PyObject* Numpy(PyObject* self, PyObject*) { return ArrayOfTensor(self, TensorObject::Of(self)); }

PyObject* Dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  // Newer versions of the protocol have more keywords. They cause a TypeError here, which tells the
  // reader to ask for the unversioned structure.
  static char stream_key[] = "stream";
  static char* keys[] = {stream_key, nullptr};
  PyObject* stream = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:__dlpack__", keys, &stream)) return nullptr;
  return DlpackOfTensor(self, TensorObject::Of(self));
}

PyObject* DlpackDevice(PyObject*, PyObject*) {
  return Py_BuildValue("(ii)", static_cast<int>(kDlCpu), 0);
}

PyObject* Repr(PyObject* self) {
  const Tensor& tensor = TensorObject::Of(self);
  const Ref shape = ShapeTuple(tensor.shape);
  if (!shape) return nullptr;
  return PyUnicode_FromFormat("Tensor(%s, %R)", NameOf(tensor.type), shape.get());
}

bool ReadShape(PyObject* given, std::vector<int64_t>* shape) {
  const Ref dims(PySequence_Tuple(given));
  if (!dims) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(dims.get()); ++i) {
    const int64_t dim = PyLong_AsLongLong(PyTuple_GetItem(dims.get(), i));
    if (dim == -1 && PyErr_Occurred() != nullptr) return false;
    shape->push_back(dim);
  }
  return true;
}

// Tensor(data_type, shape, address, size, owner): memory of somebody else, kept alive by `owner`.
PyObject* New(PyTypeObject* type, PyObject* args, PyObject*) {
  const char* name = nullptr;
  PyObject* shape = nullptr;
  PyObject* address = nullptr;
  unsigned long long size = 0;
  PyObject* owner = nullptr;
  if (!PyArg_ParseTuple(args, "sOOKO:Tensor", &name, &shape, &address, &size, &owner)) {
    return nullptr;
  }
  Tensor tensor;
  tensor.type = static_cast<DataType>(TRITONSERVER_StringToDataType(name));
  if (tensor.type == DataType::kInvalid) {
    return RaiseInvalid(std::string("there is no data type '") + name + "'");
  }
  if (!ReadShape(shape, &tensor.shape)) return nullptr;
  uint64_t count = 0;
  if (!ElementCount(tensor.shape, &count)) {
    return RaiseInvalid(
        "the shape of the tensor has a negative dimension, or more elements than "
        "memory can hold");
  }
  if (tensor.type != DataType::kBytes && size != count * ElementSize(tensor.type)) {
    return RaiseInvalid("the tensor has " + std::to_string(size) + " bytes, but its shape takes " +
                        std::to_string(count * ElementSize(tensor.type)));
  }
  tensor.data = static_cast<char*>(PyLong_AsVoidPtr(address));
  if (PyErr_Occurred() != nullptr) return nullptr;
  tensor.size = size;
  tensor.keeper = KeepObject(owner);
  return TensorObject::New(type, std::move(tensor));
}

int GetBuffer(PyObject* self, BufferView* view, int flags) try {
  Tensor& tensor = TensorObject::Of(self);
  return FillBuffer(self, tensor.type, tensor.shape, tensor.data, tensor.size, view, flags);
} catch (const std::bad_alloc&) {
  view->obj = nullptr;
  PyErr_NoMemory();
  return -1;
}

}  // namespace

bool AddTensorType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"numpy", kSafely<Numpy>, METH_NOARGS,
       "An array on the same memory; for BYTES, a new array of bytes objects."},
      {"__dlpack__", AsMethod(kSafely<Dlpack>), METH_VARARGS | METH_KEYWORDS, nullptr},
      {"__dlpack_device__", kSafely<DlpackDevice>, METH_NOARGS, nullptr},
      {},
  };
  static PyGetSetDef attributes[] = {
      {"data_type", GetType, nullptr, "Name of the data type, for instance FP32.", nullptr},
      {"shape", GetShape, nullptr, "Dimensions, a tuple.", nullptr},
      {"nbytes", GetSize, nullptr, "Size of the memory in bytes.", nullptr},
      {"address", GetAddress, nullptr, "Address of the memory; None if there is none.", nullptr},
      {},
  };
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(kSafely<New>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(TensorObject::Dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(Repr)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {kGetBufferSlot, reinterpret_cast<void*>(GetBuffer)},
      {kReleaseBufferSlot, reinterpret_cast<void*>(ReleaseBuffer)},
      {0, nullptr},
  };
  static PyType_Spec spec = {"nereid.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT, slots};
  tensor_type = AddType(module, "Tensor", &spec);
  return tensor_type != nullptr;
}

PyObject* NewTensor(Tensor tensor) { return TensorObject::New(tensor_type, std::move(tensor)); }

Tensor* TensorOf(PyObject* object) {
  return Py_TYPE(object) == tensor_type ? &TensorObject::Of(object) : nullptr;
}

Ref ShapeTuple(const std::vector<int64_t>& shape) {
  Ref dims(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  if (!dims) return Ref();
  for (size_t i = 0; i < shape.size(); ++i) {
    PyObject* dim = PyLong_FromLongLong(shape[i]);
    if (dim == nullptr) return Ref();
    PyTuple_SetItem(dims.get(), static_cast<Py_ssize_t>(i), dim);
  }
  return dims;
}

}  // namespace nereid_python::native
