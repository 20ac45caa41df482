// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack, as its documentation defines them (the unversioned ones, which every
// reader knows), the data types in its terms, and capsules on memory of ours. Stateless.
#ifndef NEREID_BACKENDS_SDK_PYTHON_DLPACK_H_
#define NEREID_BACKENDS_SDK_PYTHON_DLPACK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/sdk/python/data_types.h"
#include "backends/sdk/python/python_api.h"

namespace nereid_python {

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

enum DlCode : uint8_t { kDlInt = 0, kDlUint = 1, kDlFloat = 2, kDlBfloat = 4, kDlBool = 6 };
enum DlDeviceType : int32_t { kDlCpu = 1, kDlCudaHost = 3 };

// Names of capsules: before and after a reader has taken the tensor.
constexpr char kDlFresh[] = "dltensor";
constexpr char kDlTaken[] = "used_dltensor";

// `type` is neither kInvalid nor kBytes, which DLPack lacks.
inline DlDataType ToDlDataType(DataType type) {
  const auto bits = static_cast<uint8_t>(ElementSize(type) * 8);
  switch (type) {
    case DataType::kBool:
      return {kDlBool, bits, 1};
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      return {kDlUint, bits, 1};
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return {kDlInt, bits, 1};
    case DataType::kBf16:
      return {kDlBfloat, bits, 1};
    default:
      return {kDlFloat, bits, 1};
  }
}

// kInvalid for types that no tensor of a model can have.
inline DataType FromDlDataType(const DlDataType& given) {
  for (uint8_t number = 1; number < kDataTypes; ++number) {
    const DataType type{number};
    if (type == DataType::kBytes) continue;
    const DlDataType known = ToDlDataType(type);
    if (known.code == given.code && known.bits == given.bits && given.lanes == 1) return type;
  }
  return DataType::kInvalid;
}

inline bool IsContiguous(const DlTensor& tensor) {
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

// A new capsule on `data`, elements in C order, which `keeper` keeps alive until the capsule's
// reader has done with it. Null with an exception. REQUIRES the GIL, and a `type` that DLPack has.
PyObject* NewDlpackCapsule(DataType type, const std::vector<int64_t>& shape, char* data,
                           Keeper keeper);

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_SDK_PYTHON_DLPACK_H_
