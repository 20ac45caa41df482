// SPDX-License-Identifier: Apache-2.0
#include "python/native/input.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backends/sdk/python/data_types.h"
#include "backends/sdk/python/dlpack.h"
#include "backends/sdk/python/numpy_interface.h"
#include "backends/sdk/python/strings.h"
#include "python/native/error.h"
#include "python/native/tensor.h"

namespace nereid_python::native {
namespace {

// What was found in a Python object.
struct Found {
  DataType type = DataType::kInvalid;
  const int64_t* shape = nullptr;
  int dimensions = 0;
  const void* data = nullptr;
  uint64_t size = 0;
  Ref owner;                          // of the data; none: `text` is
  std::unique_ptr<std::string> text;  // strings, as the server wants them
  Ref description;                    // of an array; owns the shape
};

enum class Reading { kDone, kNotATensor, kFailed };

// `what`: for messages, such as "input 'X'".
Reading Refuse(const std::string& what, const std::string& why) {
  RaiseInvalid(what + " " + why);
  return Reading::kFailed;
}

constexpr char kNotContiguous[] =
    "is not contiguous in C order, so its bytes cannot be read in place: pass "
    "numpy.ascontiguousarray() of it, or another contiguous copy";

Reading ReadArray(const std::string& what, PyObject* array, Ref capsule, Found* found) {
  const ArrayInterface* inside = ArrayOf(capsule);
  if (inside == nullptr) return Reading::kFailed;
  if (inside->kind == 'U') return Reading::kNotATensor;  // texts of fixed width are not in UTF-8
  found->type = DataTypeOf(array, *inside);
  if (found->type == DataType::kInvalid) {
    return Refuse(what, "is an array of " + DtypeName(array) +
                            ", which no model takes: use a type like float32, int64, bool or str");
  }
  if (!IsContiguous(*inside)) return Refuse(what, kNotContiguous);
  static_assert(sizeof(int64_t) == sizeof(*inside->shape));
  found->shape = reinterpret_cast<const int64_t*>(inside->shape);
  found->dimensions = inside->dimensions;
  found->description = std::move(capsule);
  if (found->type == DataType::kBytes) {
    found->text = std::make_unique<std::string>();
    if (!SerializeStrings(*inside, found->text.get())) return Reading::kFailed;
    found->data = found->text->data();
    found->size = found->text->size();
    return Reading::kDone;
  }
  if ((inside->flags & kArrayNotSwapped) == 0 && inside->element_size > 1) {
    return Refuse(what,
                  "is not in the byte order of this machine: pass "
                  "array.astype(array.dtype.newbyteorder('='))");
  }
  found->size = ElementSize(found->type);
  for (int i = 0; i < inside->dimensions; ++i) {
    found->size *= static_cast<uint64_t>(found->shape[i]);
  }
  found->data = inside->data;
  found->owner = Ref::Borrow(array);
  return Reading::kDone;
}

Reading ReadDlpack(const std::string& what, Ref capsule, Found* found) {
  const auto* managed =
      static_cast<const DlManagedTensor*>(PyCapsule_GetPointer(capsule.get(), kDlFresh));
  if (managed == nullptr) return Reading::kFailed;
  const DlTensor& tensor = managed->tensor;
  if (tensor.device.type != kDlCpu && tensor.device.type != kDlCudaHost) {
    return Refuse(what, "is on a device of DLPack's type " + std::to_string(tensor.device.type) +
                            ": move it to the memory of the processor first");
  }
  found->type = FromDlDataType(tensor.type);
  if (found->type == DataType::kInvalid) {
    return Refuse(what, "has a data type that no model takes (DLPack code " +
                            std::to_string(tensor.type.code) + ", " +
                            std::to_string(tensor.type.bits) + " bits, " +
                            std::to_string(tensor.type.lanes) + " lanes)");
  }
  if (!IsContiguous(tensor)) return Refuse(what, kNotContiguous);
  found->dimensions = std::max(tensor.dimensions, 0);
  found->shape = tensor.shape;
  uint64_t count = 0;
  if (!ElementCount({tensor.shape, tensor.shape + found->dimensions}, &count)) {
    return Refuse(what, "has a negative dimension, or more elements than memory can hold");
  }
  found->data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
  found->size = count * ElementSize(found->type);
  // The capsule is not taken: when it is destroyed, it gives the memory back.
  found->owner = std::move(capsule);
  return Reading::kDone;
}

Reading ReadTensor(PyObject* value, const Tensor& tensor, Found* found) {
  found->type = tensor.type;
  found->shape = tensor.shape.data();
  found->dimensions = static_cast<int>(tensor.shape.size());
  found->data = tensor.data;
  found->size = tensor.size;
  found->owner = Ref::Borrow(value);
  return Reading::kDone;
}

// True, with the exception cleared, if an attribute is missing.
bool IsMissing() {
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return false;
  PyErr_Clear();
  return true;
}

Reading Read(const std::string& what, PyObject* value, Found* found) {
  if (const Tensor* tensor = TensorOf(value)) return ReadTensor(value, *tensor, found);
  Ref array = ArrayCapsule(value);
  if (array) return ReadArray(what, value, std::move(array), found);
  if (!IsMissing()) return Reading::kFailed;
  if (PyCapsule_IsValid(value, kDlFresh) != 0) return ReadDlpack(what, Ref::Borrow(value), found);
  static PyObject* const dlpack = PyUnicode_InternFromString("__dlpack__");
  const Ref method(PyObject_GetAttr(value, dlpack));
  if (!method) return IsMissing() ? Reading::kNotATensor : Reading::kFailed;
  Ref capsule(PyObject_CallFunctionObjArgs(method.get(), nullptr));
  return capsule ? ReadDlpack(what, std::move(capsule), found) : Reading::kFailed;
}

Reading RefuseObject(const std::string& what, PyObject* value) {
  return Refuse(what, "is a " + TypeName(value) +
                          ": pass a numpy array, something with __dlpack__, or a list");
}

bool Add(Call* call, const char* name, Found found) {
  TRITONSERVER_InferenceRequest* const request = *call->request();
  CError error = TRITONSERVER_InferenceRequestAddInput(
      request, name, static_cast<TRITONSERVER_DataType>(found.type), found.shape,
      static_cast<uint64_t>(found.dimensions));
  if (error == nullptr && found.size > 0) {
    error = TRITONSERVER_InferenceRequestAppendInputData(request, name, found.data, found.size,
                                                         TRITONSERVER_MEMORY_CPU, 0);
  }
  call->Keep(std::move(found.owner), std::move(found.text));
  if (error != nullptr) Raise(error);
  return error == nullptr;
}

}  // namespace

PyObject* TensorFrom(PyObject* value) {
  Found found;
  const Reading reading = Read("the tensor", value, &found);
  if (reading == Reading::kNotATensor) RefuseObject("the tensor", value);
  if (reading != Reading::kDone) return nullptr;
  Tensor tensor;
  tensor.type = found.type;
  tensor.shape.assign(found.shape, found.shape + found.dimensions);
  tensor.data = static_cast<char*>(const_cast<void*>(found.data));
  tensor.size = found.size;
  tensor.keeper =
      found.text != nullptr ? Keeper(std::move(found.text)) : KeepObject(found.owner.get());
  return NewTensor(std::move(tensor));
}

bool AddInput(Call* call, PyObject* name, PyObject* value, PyObject* convert) {
  std::string_view text;
  if (!PyUnicode_Check(name)) {
    RaiseInvalid("the name of an input is a " + TypeName(name) + ", and must be a str");
    return false;
  }
  if (!Utf8(name, &text)) return false;
  const std::string what = "input '" + std::string(text) + "'";
  Found found;
  Reading reading = Read(what, value, &found);
  Ref converted;
  if (reading == Reading::kNotATensor && convert != Py_None) {
    converted = Ref(PyObject_CallFunctionObjArgs(convert, name, value, nullptr));
    if (!converted) return false;
    reading = Read(what, converted.get(), &found);
  }
  if (reading == Reading::kNotATensor) RefuseObject(what, value);
  // A str's UTF-8 ends in NUL.
  return reading == Reading::kDone && Add(call, text.data(), std::move(found));
}

}  // namespace nereid_python::native
