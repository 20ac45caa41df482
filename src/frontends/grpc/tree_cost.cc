#include "frontends/grpc/tree_cost.h"

#include <algorithm>

namespace nereid {
namespace {

// Objects as protobuf makes them, with what their owner needs to find them.
constexpr uint64_t kMessage = 256;
constexpr uint64_t kMapEntry = 256;
constexpr uint64_t kString = 80;
// An array that grows has up to as much room again.
constexpr uint64_t kRoom = 2;

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  absl::string_view bytes;  // of a field with a length
};

bool ReadVarint(absl::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Skip(absl::string_view* bytes, uint64_t size) {
  if (size > bytes->size()) return false;
  bytes->remove_prefix(size);
  return true;
}

// Takes the next field off `bytes`; false at the end, and where there is none.
bool Next(absl::string_view* bytes, Field* field) {
  uint64_t tag;
  uint64_t value;
  if (bytes->empty() || !ReadVarint(bytes, &tag)) return false;
  field->number = static_cast<uint32_t>(tag >> 3);
  field->wire_type = static_cast<uint32_t>(tag & 7);
  field->bytes = {};
  switch (field->wire_type) {
    case 0:
      return ReadVarint(bytes, &value);
    case 1:
      return Skip(bytes, 8);
    case 2:
      if (!ReadVarint(bytes, &value) || value > bytes->size()) return false;
      field->bytes = bytes->substr(0, value);
      return Skip(bytes, value);
    case 5:
      return Skip(bytes, 4);
    default:
      return false;
  }
}

// Numbers of `size` bytes in memory each, packed as varints.
uint64_t Packed(absl::string_view varints, uint64_t size) {
  const auto is_last = [](char byte) { return (static_cast<uint8_t>(byte) & 0x80) == 0; };
  const auto count = std::count_if(varints.begin(), varints.end(), is_last);
  return static_cast<uint64_t>(count) * size * kRoom;
}

// InferTensorContents.
uint64_t ContentsCost(absl::string_view message) {
  uint64_t cost = kMessage;
  for (Field field; Next(&message, &field);) {
    if (field.wire_type != 2) {
      cost += sizeof(uint64_t) * kRoom;  // a number by itself
      continue;
    }
    switch (field.number) {
      case 1:  // bool
        cost += Packed(field.bytes, sizeof(bool));
        break;
      case 2:  // int32
      case 4:  // uint32
        cost += Packed(field.bytes, sizeof(uint32_t));
        break;
      case 3:  // int64
      case 5:  // uint64
        cost += Packed(field.bytes, sizeof(uint64_t));
        break;
      case 6:  // float
      case 7:  // double
        cost += field.bytes.size() * kRoom;
        break;
      default:  // an element of bytes_contents
        cost += kString + field.bytes.size();
    }
  }
  return cost;
}

// InferInputTensor or, without shape and contents, InferRequestedOutputTensor.
uint64_t TensorCost(absl::string_view message, bool input) {
  uint64_t cost = kMessage;
  for (Field field; Next(&message, &field);) {
    if (field.wire_type != 2) {
      cost += sizeof(uint64_t) * kRoom;
    } else if (input && field.number == 3) {
      cost += Packed(field.bytes, sizeof(int64_t));
    } else if (input && field.number == 5) {
      cost += ContentsCost(field.bytes);
    } else {
      cost += kMapEntry + field.bytes.size();  // a parameter or a name
    }
  }
  return cost;
}

}  // namespace

uint64_t TreeCost(absl::string_view message) {
  uint64_t cost = kMessage;
  for (Field field; Next(&message, &field);) {
    if (field.wire_type != 2) {
      cost += sizeof(uint64_t);
    } else if (field.number == 5 || field.number == 6) {
      cost += TensorCost(field.bytes, /*input=*/field.number == 5);
    } else {
      cost += kMapEntry + field.bytes.size();
    }
  }
  return cost;
}

}  // namespace nereid
