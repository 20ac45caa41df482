// SPDX-License-Identifier: Apache-2.0
#include "backends/python/worker/tensor_numpy.h"

#include <memory>
#include <string>
#include <type_traits>

#include "backends/sdk/python/numpy_interface.h"
#include "backends/sdk/python/strings.h"

namespace nereid_python::worker {
namespace {

// ArraySource: the object through which numpy accesses the memory of a tensor; the array keeps it
// alive. The tensor itself cannot be that object: it keeps the array alive, so the two would form a
// cycle that is never freed.
struct ArraySource {
  DataType type;
  std::vector<int64_t> shape;
  char* data;
  Keeper keeper;
};
struct ArraySourceObject {
  PyObject_HEAD ArraySource source;
};
PyTypeObject* array_source_type = nullptr;

// The content of a capsule for `__array_struct__`. numpy reads it at once.
struct ArrayStruct {
  ArrayInterface interface;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};
static_assert(std::is_standard_layout_v<ArrayStruct>, "its address is that of `interface`");

void DeleteArrayStruct(PyObject* capsule) {
  delete static_cast<ArrayStruct*>(PyCapsule_GetPointer(capsule, nullptr));
}

// The dtype of a type's arrays, which is made once. Null with an exception. Guarded by the GIL.
PyObject* DtypeOf(DataType type) {
  static PyObject* made[kDataTypes] = {};
  PyObject*& dtype = made[static_cast<size_t>(type)];
  if (dtype == nullptr) {
    dtype = MakeDtype(NumpyKind(type), static_cast<int>(ElementSize(type))).release();
  }
  return dtype;
}

PyObject* GetArrayStruct(PyObject* self, void*) {
  const ArraySource& source = reinterpret_cast<ArraySourceObject*>(self)->source;
  PyObject* const dtype = DtypeOf(source.type);
  if (dtype == nullptr) return nullptr;
  auto array = std::make_unique<ArrayStruct>();
  array->shape.assign(source.shape.begin(), source.shape.end());
  array->strides.resize(source.shape.size());
  auto stride = static_cast<Py_ssize_t>(ElementSize(source.type));
  for (size_t i = source.shape.size(); i-- > 0;) {
    array->strides[i] = stride;
    stride *= array->shape[i];
  }
  array->interface = {
      .two = 2,
      .dimensions = static_cast<int>(source.shape.size()),
      .kind = NumpyKind(source.type),
      .element_size = static_cast<int>(ElementSize(source.type)),
      .flags = kArrayCContiguous | kArrayAligned | kArrayNotSwapped | kArrayWriteable |
               kArrayHasDescription,
      .shape = array->shape.data(),
      .strides = array->strides.data(),
      .data = source.data,
      .description = dtype,
  };
  PyObject* capsule = PyCapsule_New(&array->interface, nullptr, DeleteArrayStruct);
  if (capsule != nullptr) static_cast<void>(array.release());  // the capsule owns it
  return capsule;
}

void DeallocArraySource(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<ArraySourceObject*>(self)->source.~ArraySource();
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* NewArraySource(ArraySource source) {
  auto* self = PyObject_New(ArraySourceObject, array_source_type);
  if (self == nullptr) return nullptr;
  new (&self->source) ArraySource(std::move(source));
  return reinterpret_cast<PyObject*>(self);
}

// numpy takes a null pointer as a request to allocate, so an empty tensor also needs an address.
char* AddressForNumpy(char* data) {
  alignas(64) static char nothing[64];
  return data == nullptr ? nothing : data;
}

// An array of elements of `type`, which has the size of the tensor's own.
Ref ViewAs(DataType type, const Tensor& tensor) {
  const Ref source(
      NewArraySource({type, tensor.shape, AddressForNumpy(tensor.data), tensor.keeper}));
  return source ? ViewOf(source.get()) : Ref();
}

// numpy has BF16 only with the package ml_dtypes.
Ref Bfloat16View(const Tensor& tensor) {
  const Ref package(PyImport_ImportModule("ml_dtypes"));
  if (!package) {
    if (PyErr_ExceptionMatches(PyExc_ImportError) == 0) return Ref();
    PyErr_Clear();
    RaiseModelError(
        "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and from_dlpack() "
        "instead. With the package ml_dtypes in the model's environment, as_numpy() converts it.");
    return Ref();
  }
  const Ref bfloat16(PyObject_GetAttrString(package.get(), "bfloat16"));
  const Ref bits = bfloat16 ? ViewAs(DataType::kUint16, tensor) : Ref();
  return bits ? Ref(PyObject_CallMethod(bits.get(), "view", "O", bfloat16.get())) : Ref();
}

bool IsArray(PyObject* object) {
  static PyObject* ndarray = nullptr;
  if (ndarray == nullptr) {
    const Ref numpy(PyImport_ImportModule("numpy"));
    if (numpy) ndarray = PyObject_GetAttrString(numpy.get(), "ndarray");
    if (ndarray == nullptr) {
      PyErr_Clear();
      return false;
    }
  }
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == ndarray) return true;
  const int is = PyObject_IsInstance(object, ndarray);
  if (is < 0) PyErr_Clear();
  return is == 1;
}

// Takes over the memory of an array that is contiguous.
bool TakeArray(Ref array, const ArrayInterface& inside, Tensor* tensor) {
  tensor->shape.assign(inside.shape, inside.shape + inside.dimensions);
  if (tensor->type == DataType::kBytes) {
    auto bytes = std::make_shared<std::string>();
    if (!SerializeStrings(inside, bytes.get())) return false;
    tensor->data = bytes->data();
    tensor->size = bytes->size();
    tensor->keeper = std::move(bytes);
  } else {
    uint64_t count = 0;
    if (!ElementCount(tensor->shape, &count)) {
      PyErr_SetString(PyExc_ValueError, "the shape of the array is no shape");
      return false;
    }
    tensor->data = static_cast<char*>(inside.data);
    tensor->size = count * ElementSize(tensor->type);
    // The reference stored below keeps the memory alive.
  }
  tensor->array = std::move(array);
  return true;
}

}  // namespace

bool TensorFromArray(PyObject* array_like, Tensor* tensor) {
  Ref array = IsArray(array_like) ? Ref::Borrow(array_like) : AsArray(array_like);
  if (!array) return false;
  Ref capsule = ArrayCapsule(array.get());
  if (!capsule) return false;
  const ArrayInterface* inside = ArrayOf(capsule);
  if (inside == nullptr) return false;
  tensor->type = DataTypeOf(array.get(), *inside);
  const bool swapped = (inside->flags & kArrayNotSwapped) == 0 && inside->element_size > 1 &&
                       tensor->type != DataType::kBytes;
  if (tensor->type == DataType::kInvalid || swapped) {
    RaiseModelError("NumPy dtype is not supported.");
    return false;
  }
  if (!IsContiguous(*inside)) {
    array = AsContiguousArray(array.get());
    if (!array) return false;
    capsule = ArrayCapsule(array.get());
    inside = capsule ? ArrayOf(capsule) : nullptr;
    if (inside == nullptr) return false;
  }
  return TakeArray(std::move(array), *inside, tensor);
}

PyObject* ArrayOfTensor(Tensor* tensor) {
  if (!tensor->array) {
    if (tensor->type == DataType::kBytes) {
      const char* why = nullptr;
      tensor->array = DecodeStrings(tensor->shape, {tensor->data, tensor->size}, &why);
      if (why != nullptr) return RaiseModelError(why);
    } else {
      tensor->array =
          tensor->type == DataType::kBf16 ? Bfloat16View(*tensor) : ViewAs(tensor->type, *tensor);
    }
    if (!tensor->array) return nullptr;
  }
  Py_INCREF(tensor->array.get());
  return tensor->array.get();
}

bool AddArraySourceType() {
  static PyGetSetDef attributes[] = {
      {"__array_struct__", GetArrayStruct, nullptr, nullptr, nullptr}, {}};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(DeallocArraySource)},
      {Py_tp_getset, attributes},
      {0, nullptr},
  };
  static PyType_Spec spec = {"_nereid_native.ArraySource", sizeof(ArraySourceObject), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  array_source_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return array_source_type != nullptr;
}

}  // namespace nereid_python::worker
