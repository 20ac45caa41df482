// SPDX-License-Identifier: Apache-2.0
#include "model/data_type.h"

#include <array>
#include <cstddef>

namespace nereid {
namespace {

struct Entry {
  const char* name;
  uint32_t byte_size;
};

// Indexed by DataType.
constexpr std::array<Entry, 15> kTypes = {{{"<invalid>", 0},
                                           {"BOOL", 1},
                                           {"UINT8", 1},
                                           {"UINT16", 2},
                                           {"UINT32", 4},
                                           {"UINT64", 8},
                                           {"INT8", 1},
                                           {"INT16", 2},
                                           {"INT32", 4},
                                           {"INT64", 8},
                                           {"FP16", 2},
                                           {"FP32", 4},
                                           {"FP64", 8},
                                           {"BYTES", 0},
                                           {"BF16", 2}}};

const Entry& Lookup(DataType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypes.size() ? kTypes[index] : kTypes[0];
}

}  // namespace

const char* DataTypeName(DataType type) { return Lookup(type).name; }

DataType ParseDataType(absl::string_view name) {
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (name == kTypes[i].name) return static_cast<DataType>(i);
  }
  return DataType::kInvalid;
}

uint32_t DataTypeByteSize(DataType type) { return Lookup(type).byte_size; }

}  // namespace nereid
