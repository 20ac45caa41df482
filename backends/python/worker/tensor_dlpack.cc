#include "backends/python/worker/tensor_dlpack.h"

#include <algorithm>
#include <memory>
#include <string>

#include "backends/sdk/python/dlpack.h"

namespace nereid_python::worker {
namespace {

// kInvalid, with an exception, for types that no tensor can have.
DataType FromDlpack(const DlDataType& given) {
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
  tensor->type = FromDlpack(given.type);
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

// The content of a capsule that this file creates.
struct Export {
  DlManagedTensor managed;
  std::vector<int64_t> shape;
  PyObject* owner;
};

// Called by the reader that took the capsule, on any thread, with or without the GIL.
void DeleteExport(DlManagedTensor* managed) {
  auto* exported = static_cast<Export*>(managed->manager);
  const WithGil gil;
  Py_DECREF(exported->owner);
  delete exported;
}

void DeleteCapsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kDlFresh)) return;  // was taken, so its reader calls the deleter
  DeleteExport(static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kDlFresh)));
}

}  // namespace

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

PyObject* DlpackOfTensor(PyObject* self, const Tensor& tensor) {
  if (tensor.type == DataType::kBytes) {
    return RaiseModelError("DLPack does not have support for string tensors.");
  }
  auto exported = std::make_unique<Export>();
  exported->shape = tensor.shape;
  exported->managed = {
      .tensor = {.data = tensor.data,
                 .device = {.type = kDlCpu, .id = 0},
                 .dimensions = static_cast<int32_t>(tensor.shape.size()),
                 .type = ToDlDataType(tensor.type),
                 .shape = exported->shape.data(),
                 .strides = nullptr,
                 .byte_offset = 0},
      .manager = exported.get(),
      .deleter = DeleteExport,
  };
  PyObject* capsule = PyCapsule_New(&exported->managed, kDlFresh, DeleteCapsule);
  if (capsule == nullptr) return nullptr;
  Py_INCREF(self);
  exported->owner = self;
  static_cast<void>(exported.release());  // the capsule owns it
  return capsule;
}

}  // namespace nereid_python::worker
