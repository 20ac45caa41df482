#include "frontends/grpc/tree_cost.h"

#include <algorithm>

namespace nereid {
namespace {

// Sizes of protobuf's objects, including what their owner needs to reference them.
constexpr uint64_t kMessage = 256;
constexpr uint64_t kMapEntry = 256;
constexpr uint64_t kString = 80;
constexpr uint64_t kArray = 64;  // however few numbers it has
constexpr uint64_t kGroup = 128;
// Per element of a repeated field, and per unknown field.
constexpr uint64_t kNumber = 32;
// A growing array reserves up to twice its size.
constexpr uint64_t kRoom = 2;

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  absl::string_view bytes;  // for a field with a length
};

// The fields of a message, one after another. Fields of a group count as the message's own with the
// number 0: our messages have no groups, so groups are kept unparsed.
class Fields {
 public:
  // `malformed` becomes true if the next bytes are not a field.
  Fields(absl::string_view message, bool* malformed) : rest_(message), malformed_(malformed) {}

  // False at the end, and if a message of this request was malformed.
  bool Next(Field* field) {
    if (*malformed_ || rest_.empty()) return false;
    *malformed_ = !Read(field);
    return !*malformed_;
  }

 private:
  bool Read(Field* field) {
    uint64_t tag;
    if (!ReadVarint(&tag)) return false;
    field->number = groups_ == 0 ? static_cast<uint32_t>(tag >> 3) : 0;
    field->wire_type = static_cast<uint32_t>(tag & 7);
    field->bytes = {};
    uint64_t value;
    switch (field->wire_type) {
      case 0:
        return ReadVarint(&value);
      case 1:
        return Skip(8);
      case 2:
        if (!ReadVarint(&value)) return false;
        field->bytes = rest_.substr(0, value);
        return Skip(value);
      case 3:
        ++groups_;
        return true;
      case 4:
        return --groups_ >= 0;
      case 5:
        return Skip(4);
      default:
        return false;
    }
  }

  bool ReadVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Skip(uint64_t size) {
    if (size > rest_.size()) return false;
    rest_.remove_prefix(size);
    return true;
  }

  absl::string_view rest_;
  bool* const malformed_;
  int groups_ = 0;  // open groups
};

// A single number, or the beginning or end of a group.
uint64_t SingleCost(const Field& field) { return field.wire_type == 3 ? kGroup : kNumber; }

// Numbers of `size` bytes in memory each, packed as varints.
uint64_t PackedCost(absl::string_view varints, uint64_t size) {
  const auto is_last = [](char byte) { return (static_cast<uint8_t>(byte) & 0x80) == 0; };
  const auto count = std::count_if(varints.begin(), varints.end(), is_last);
  return kArray + static_cast<uint64_t>(count) * size * kRoom;
}

uint64_t TextCost(const Field& field) { return kString + field.bytes.size(); }

// The total cost of the fields of `message`; `cost` returns that of a field with a length.
template <typename Cost>
uint64_t SumOfFields(absl::string_view message, bool* malformed, const Cost& cost) {
  uint64_t sum = 0;
  Fields fields(message, malformed);
  for (Field field; fields.Next(&field);) {
    sum += field.wire_type == 2 ? cost(field) : SingleCost(field);
  }
  return sum;
}

// An entry of a map of parameters, with the parameter.
uint64_t EntryCost(absl::string_view message, bool* malformed) {
  return kMapEntry + SumOfFields(message, malformed, [&](const Field& field) {
           if (field.number == 2) return SumOfFields(field.bytes, malformed, TextCost);
           return TextCost(field);
         });
}

// InferTensorContents.
uint64_t ContentsCost(absl::string_view message, bool* malformed) {
  return kMessage + SumOfFields(message, malformed, [](const Field& field) {
           switch (field.number) {
             case 1:  // bool
               return PackedCost(field.bytes, sizeof(bool));
             case 2:  // int32
             case 4:  // uint32
               return PackedCost(field.bytes, sizeof(uint32_t));
             case 3:  // int64
             case 5:  // uint64
               return PackedCost(field.bytes, sizeof(uint64_t));
             case 6:  // float
             case 7:  // double
               return kArray + field.bytes.size() * kRoom;
             default:  // an element of bytes_contents
               return TextCost(field);
           }
         });
}

// InferInputTensor.
uint64_t InputCost(absl::string_view message, bool* malformed) {
  return kMessage + SumOfFields(message, malformed, [&](const Field& field) {
           if (field.number == 3) return PackedCost(field.bytes, sizeof(int64_t));
           if (field.number == 4) return EntryCost(field.bytes, malformed);
           if (field.number == 5) return ContentsCost(field.bytes, malformed);
           return TextCost(field);
         });
}

// InferRequestedOutputTensor.
uint64_t OutputCost(absl::string_view message, bool* malformed) {
  return kMessage + SumOfFields(message, malformed, [&](const Field& field) {
           return field.number == 2 ? EntryCost(field.bytes, malformed) : TextCost(field);
         });
}

}  // namespace

std::optional<uint64_t> TreeCost(absl::string_view message) {
  bool malformed = false;
  const uint64_t sum = SumOfFields(message, &malformed, [&](const Field& field) {
    if (field.number == 4) return EntryCost(field.bytes, &malformed);
    if (field.number == 5) return InputCost(field.bytes, &malformed);
    if (field.number == 6) return OutputCost(field.bytes, &malformed);
    return TextCost(field);
  });
  if (malformed) return std::nullopt;
  return kMessage + sum;
}

}  // namespace nereid
