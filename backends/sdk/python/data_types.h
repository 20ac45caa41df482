// SPDX-License-Identifier: Apache-2.0
// Data types of tensors, numbered like TRITONSERVER_DataType, and their names in numpy and DLPack.
// Stateless.
#ifndef NEREID_BACKENDS_SDK_PYTHON_DATA_TYPES_H_
#define NEREID_BACKENDS_SDK_PYTHON_DATA_TYPES_H_

#include <cstdint>
#include <vector>

namespace nereid_python {

enum class DataType : uint8_t {
  kInvalid,
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kFp32,
  kFp64,
  kBytes,
  kBf16,
};
constexpr uint8_t kDataTypes = 15;

// Bytes of an element; 0 for kBytes and kInvalid.
constexpr uint32_t ElementSize(DataType type) {
  constexpr uint8_t kSizes[kDataTypes] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 2};
  return kSizes[static_cast<uint8_t>(type)];
}

// numpy's letter for the kind: 'b', 'u', 'i', 'f', 'O'; 0 for types that numpy lacks.
constexpr char NumpyKind(DataType type) {
  constexpr char kKinds[kDataTypes + 1] = "\0buuuuiiiifffO\0";
  return kKinds[static_cast<uint8_t>(type)];
}

// kInvalid for types that no tensor can hold. 'S' counts as kBytes.
constexpr DataType FromNumpy(char kind, int element_size) {
  if (kind == 'O' || kind == 'S') return DataType::kBytes;
  for (uint8_t number = 1; number < kDataTypes; ++number) {
    const DataType type{number};
    if (NumpyKind(type) == kind && ElementSize(type) == static_cast<uint32_t>(element_size)) {
      return type;
    }
  }
  return DataType::kInvalid;
}

static_assert(FromNumpy('f', 2) == DataType::kFp16);
static_assert(FromNumpy('b', 1) == DataType::kBool);
static_assert(FromNumpy('u', 8) == DataType::kUint64);
static_assert(FromNumpy('f', 16) == DataType::kInvalid);

// Number of elements of a shape; false if memory could not hold that many bytes.
inline bool ElementCount(const std::vector<int64_t>& shape, uint64_t* count) {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  uint64_t product = 1;
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return false;
    if (dim == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, static_cast<uint64_t>(dim), &product)) {
      return false;
    }
  }
  *count = empty ? 0 : product;
  return product <= kMost;
}

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_SDK_PYTHON_DATA_TYPES_H_
