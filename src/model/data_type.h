// SPDX-License-Identifier: Apache-2.0
// DataType: the element types of tensors. Values equal TRITONSERVER_DataType.
#ifndef NEREID_MODEL_DATA_TYPE_H_
#define NEREID_MODEL_DATA_TYPE_H_

#include <absl/strings/string_view.h>

#include <cstdint>

#include "base/export.h"

namespace nereid {

enum class DataType : int {
  kInvalid = 0,
  kBool = 1,
  kUint8 = 2,
  kUint16 = 3,
  kUint32 = 4,
  kUint64 = 5,
  kInt8 = 6,
  kInt16 = 7,
  kInt32 = 8,
  kInt64 = 9,
  kFp16 = 10,
  kFp32 = 11,
  kFp64 = 12,
  kBytes = 13,
  kBf16 = 14,
};

// Protocol name ("FP32", "BYTES", ...), "<invalid>" for anything else. Static, NUL-terminated.
NEREID_API const char* DataTypeName(DataType type);
// Inverse of DataTypeName; kInvalid for unknown text.
NEREID_API DataType ParseDataType(absl::string_view name);
// Bytes of one element; 0 for kBytes (variable) and kInvalid.
NEREID_API uint32_t DataTypeByteSize(DataType type);

}  // namespace nereid

#endif  // NEREID_MODEL_DATA_TYPE_H_
