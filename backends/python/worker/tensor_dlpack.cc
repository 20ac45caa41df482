#include "backends/python/worker/tensor_dlpack.h"

#include <algorithm>
#include <memory>
#include <string>

namespace nereid_python::worker {
namespace {

// The structures of DLPack, as its documentation defines them.
struct DlDevice {
  int32_t type;
  int32_t id;
};
struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t dimensions;
  DlDataType type;
  int64_t* shape;
  int64_t* strides;  // in elements; null: C order
  uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* manager;
  void (*deleter)(DlManagedTensor* self);
};

enum DlCode : uint8_t { kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kBool = 6 };
enum DlDeviceType : int32_t { kCpu = kDlpackCpu, kCudaHost = 3 };

constexpr char kFresh[] = "dltensor";
constexpr char kTaken[] = "used_dltensor";

DlDataType ToDlpack(DataType type) {
  const auto bits = static_cast<uint8_t>(ElementSize(type) * 8);
  switch (type) {
    case DataType::kBool:
      return {kBool, bits, 1};
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      return {kUint, bits, 1};
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return {kInt, bits, 1};
    case DataType::kBf16:
      return {kBfloat, bits, 1};
    default:
      return {kFloat, bits, 1};
  }
}

// kInvalid, with an exception, for types that no tensor can have.
DataType FromDlpack(const DlDataType& given) {
  if (given.code == kBfloat && given.bits != 16) {
    RaiseModelError("Expected BF16 tensor to have 16 bits, but had: " + std::to_string(given.bits));
    return DataType::kInvalid;
  }
  for (uint8_t number = 1; number < kDataTypes; ++number) {
    const DataType type{number};
    if (type == DataType::kBytes) continue;
    const DlDataType known = ToDlpack(type);
    if (known.code == given.code && known.bits == given.bits && given.lanes == 1) return type;
  }
  RaiseModelError("Dtype is invalid.");
  return DataType::kInvalid;
}

bool IsContiguous(const DlTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  bool contiguous = true;
  for (int32_t i = tensor.dimensions; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) contiguous = false;
    expected *= tensor.shape[i];
  }
  return contiguous;
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
  if (given.device.type != kCpu && given.device.type != kCudaHost) {
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
  if (!PyCapsule_IsValid(capsule, kFresh)) return;  // was taken, so its reader calls the deleter
  DeleteExport(static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kFresh)));
}

}  // namespace

bool TensorFromDlpack(PyObject* object, Tensor* tensor) {
  const Ref capsule = CapsuleFrom(object);
  if (!capsule) return false;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.get(), kFresh));
  if (managed == nullptr || !Check(managed->tensor, tensor)) return false;
  if (PyCapsule_SetName(capsule.get(), kTaken) != 0) return false;
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
                 .device = {.type = kCpu, .id = 0},
                 .dimensions = static_cast<int32_t>(tensor.shape.size()),
                 .type = ToDlpack(tensor.type),
                 .shape = exported->shape.data(),
                 .strides = nullptr,
                 .byte_offset = 0},
      .manager = exported.get(),
      .deleter = DeleteExport,
  };
  PyObject* capsule = PyCapsule_New(&exported->managed, kFresh, DeleteCapsule);
  if (capsule == nullptr) return nullptr;
  Py_INCREF(self);
  exported->owner = self;
  static_cast<void>(exported.release());  // the capsule owns it
  return capsule;
}

}  // namespace nereid_python::worker
