// DLPack capsules on the memory of a Tensor.
#include <memory>

#include "backends/sdk/python/dlpack.h"
#include "python/native/error.h"
#include "python/native/tensor.h"

namespace nereid_python::native {
namespace {

// The content of a capsule that this file makes.
struct Export {
  DlManagedTensor managed;
  std::vector<int64_t> shape;
  Keeper keeper;
};

// Called by the reader that took the capsule, on any thread, with or without the GIL.
void DeleteExport(DlManagedTensor* managed) {
  auto* exported = static_cast<Export*>(managed->manager);
  const WithGil gil;  // what keeps the memory may be an object
  delete exported;
}

void DeleteCapsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kDlFresh)) return;  // was taken, so its reader calls the deleter
  DeleteExport(static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kDlFresh)));
}

}  // namespace

PyObject* DlpackOfTensor(PyObject*, const Tensor& tensor) {
  if (tensor.type == DataType::kBytes) {
    PyErr_SetString(PyExc_BufferError, "DLPack has no strings: use numpy()");
    return nullptr;
  }
  auto exported = std::make_unique<Export>();
  exported->shape = tensor.shape;
  exported->keeper = tensor.keeper;
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
  if (capsule != nullptr) static_cast<void>(exported.release());  // the capsule owns it
  return capsule;
}

}  // namespace nereid_python::native
