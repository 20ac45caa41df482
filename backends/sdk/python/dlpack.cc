// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/python/dlpack.h"

#include <utility>

namespace nereid_python {
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

PyObject* NewDlpackCapsule(DataType type, const std::vector<int64_t>& shape, char* data,
                           Keeper keeper) {
  auto exported = std::make_unique<Export>();
  exported->shape = shape;
  exported->keeper = std::move(keeper);
  exported->managed = {
      .tensor = {.data = data,
                 .device = {.type = kDlCpu, .id = 0},
                 .dimensions = static_cast<int32_t>(shape.size()),
                 .type = ToDlDataType(type),
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

}  // namespace nereid_python
