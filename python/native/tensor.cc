// SPDX-License-Identifier: Apache-2.0
#include "python/native/tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/python/data_types.h"
#include "backends/sdk/python/dlpack.h"
#include "backends/sdk/python/python_api.h"
#include "backends/sdk/python/strings.h"
#include "python/native/error.h"
#include "python/native/object.h"
#include "triton/core/tritonserver.h"

namespace nereid_python::native {
namespace {

// --- The buffer protocol. It is part of the limited API since Python 3.11 only; its structure and
// the numbers of its slots are the same in all versions from 3.9.

struct BufferView {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};

constexpr int kGetBufferSlot = 1;
constexpr int kReleaseBufferSlot = 2;

constexpr int kWantsFormat = 0x4;
constexpr int kWantsShape = 0x8;
constexpr int kWantsStrides = 0x10 | kWantsShape;

// One letter for each data type, in their order.
constexpr char kFormats[kDataTypes][2] = {"B", "?", "B", "H", "I", "Q", "b", "h",
                                          "i", "q", "e", "f", "d", "B", "H"};

struct Layout {
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

// Fills a view of contiguous elements of `owner`, which it keeps alive. Elements of BF16, which the
// protocol lacks, are seen as uint16, and strings as their bytes. -1 with an exception.
int FillBuffer(PyObject* owner, DataType type, const std::vector<int64_t>& shape, void* data,
               uint64_t size, BufferView* view, int flags) {
  // A view without an address is taken for none.
  alignas(64) static char nothing[64];
  const bool text = type == DataType::kBytes;
  auto layout = std::make_unique<Layout>();
  const Py_ssize_t item = text ? 1 : static_cast<Py_ssize_t>(ElementSize(type));
  if (text) {
    layout->shape = {static_cast<Py_ssize_t>(size)};
  } else {
    layout->shape.assign(shape.begin(), shape.end());
  }
  layout->strides.resize(layout->shape.size());
  Py_ssize_t stride = item;
  for (size_t i = layout->shape.size(); i-- > 0;) {
    layout->strides[i] = stride;
    stride *= layout->shape[i];
  }
  *view = {};
  view->buf = data == nullptr ? nothing : data;
  Py_INCREF(owner);
  view->obj = owner;
  view->len = static_cast<Py_ssize_t>(size);
  view->itemsize = item;
  view->ndim = (flags & kWantsShape) != 0 ? static_cast<int>(layout->shape.size()) : 1;
  if ((flags & kWantsFormat) != 0) {
    view->format = const_cast<char*>(kFormats[static_cast<uint8_t>(type)]);
  }
  if ((flags & kWantsShape) != 0) view->shape = layout->shape.data();
  if ((flags & kWantsStrides) == kWantsStrides) view->strides = layout->strides.data();
  view->internal = layout.release();
  return 0;
}

// Frees what FillBuffer allocated; for kReleaseBufferSlot.
void ReleaseBuffer(PyObject*, BufferView* view) { delete static_cast<Layout*>(view->internal); }

// --- Arrays of numpy on the memory of a Tensor.

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

// The object that numpy takes for a data type; borrowed. Null with an exception.
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

// An array on the memory of `self`, which it keeps alive, or a copy for strings.
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

// --- The type.

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
  const Tensor& tensor = TensorObject::Of(self);
  if (tensor.type == DataType::kBytes) {
    PyErr_SetString(PyExc_BufferError, "DLPack has no strings: use numpy()");
    return nullptr;
  }
  return NewDlpackCapsule(tensor.type, tensor.shape, tensor.data, tensor.keeper);
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
  static PyType_Spec spec = {"nereid_server.Tensor", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT,
                             slots};
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
